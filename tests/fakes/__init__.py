"""Stand-ins for clocks, API servers and Google, shared by the tests of several layers."""
