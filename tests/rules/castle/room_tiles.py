"""Die tiles of a hand-made board: a colour and a gift that each can be told by."""

TILES = (
    {"diamond-1": "white-any", "3": "coral-coin", "8": "black-coin"}  # steward-room-1
    | {"diamond-2": "black-food", "4": "coral-iron", "9": "white-coin"}  # steward-room-2
    | {"diamond-3": "coral-pearl", "5": "white-food", "10": "black-any"}  # steward-room-3
    | {"1": "black-pearl", "6": "white-iron"}  # diplomat-room-1
    | {"2": "white-pearl", "7": "coral-any"}  # diplomat-room-2
    | {"11": "coral-food", "12": "black-iron"}  # the Well
)
