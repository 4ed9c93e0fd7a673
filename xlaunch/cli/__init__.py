"""The commands: parse, call, return a result. Nothing below imports this package."""
