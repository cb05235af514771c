"""Has whole stock gateways, with models of ours behind them, write to each other."""
