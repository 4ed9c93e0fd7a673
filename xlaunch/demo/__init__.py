"""The rehearsal of a slice failure on an embedded cluster, and its proof."""
