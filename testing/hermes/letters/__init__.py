"""Letters between whole stock gateways with test models behind them."""
