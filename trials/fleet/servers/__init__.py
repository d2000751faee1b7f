"""How each server of the bed is configured and started."""
