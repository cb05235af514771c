//! The lock of the structures that several threads use, under one name: `testing/interleavings` compiles their files a
//! second time with a lock under which every order of the threads is tried.

pub(crate) use std::sync::{Mutex, MutexGuard};
