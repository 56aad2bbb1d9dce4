"""`python -m himeji_sdk`: the command line `himeji`, where it is not on the path."""

from himeji_sdk._cli import main

main(prog_name="himeji")
