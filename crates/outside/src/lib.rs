//! Outside: the one guarded way to addresses that tenants name.
