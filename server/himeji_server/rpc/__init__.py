"""The gRPC server: interceptor, health, and one module for each service of the contract."""
