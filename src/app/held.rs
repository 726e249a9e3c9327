//! Signals whose content is shared, not copied, and read and changed through code that exists once a type.
//!
//! `with` and `update` of a plain signal are compiled anew for every closure they are given; here the closure runs
//! outside, on a shared value, so that each use costs a few bytes of the page instead of a few hundred.

use leptos::prelude::*;
use std::sync::Arc;

/// A signal that is written to.
pub(super) struct Held<T: 'static>(RwSignal<Arc<T>>);

/// A value that follows others.
pub(super) struct Known<T: Send + Sync + 'static>(Memo<Same<T>>);

/// A shared value, equal to itself and to equal ones.
struct Same<T>(Arc<T>);

impl<T: PartialEq> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl<T> Clone for Same<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> Clone for Held<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Held<T> {}

impl<T: Send + Sync> Clone for Known<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync> Copy for Known<T> {}

impl<T: Clone + Send + Sync + 'static> Held<T> {
    pub(super) fn new(value: T) -> Self {
        Self(RwSignal::new(Arc::new(value)))
    }

    /// The value now; whoever asks is told of changes.
    #[inline(never)]
    pub(super) fn now(self) -> Arc<T> {
        self.0.get()
    }

    /// The value now, without being told of changes.
    #[inline(never)]
    pub(super) fn now_untracked(self) -> Arc<T> {
        self.0.get_untracked()
    }

    /// Replaces the value; after the page's end nothing happens.
    #[inline(never)]
    pub(super) fn set(self, value: T) {
        let _ = self.0.try_set(Arc::new(value));
    }

    /// Asks to be told of changes.
    pub(super) fn track(self) {
        let _ = self.now();
    }

    #[inline]
    pub(super) fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.now())
    }

    #[inline]
    pub(super) fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.now_untracked())
    }

    /// Changes the value.
    #[inline]
    pub(super) fn update(self, change: impl FnOnce(&mut T)) {
        let mut value = T::clone(&self.now_untracked());
        change(&mut value);
        self.set(value);
    }
}

impl<T: PartialEq + Send + Sync + 'static> Known<T> {
    pub(super) fn new(know: impl Fn(Option<&T>) -> T + Send + Sync + 'static) -> Self {
        Self(Memo::new(move |before: Option<&Same<T>>| Same(Arc::new(know(before.map(|same| &*same.0))))))
    }

    /// The value now; whoever asks is told of changes.
    #[inline(never)]
    pub(super) fn now(self) -> Arc<T> {
        self.0.get().0
    }

    /// The value now, without being told of changes.
    #[inline(never)]
    pub(super) fn now_untracked(self) -> Arc<T> {
        self.0.get_untracked().0
    }

    /// Asks to be told of changes.
    pub(super) fn track(self) {
        let _ = self.now();
    }

    #[inline]
    pub(super) fn with<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.now())
    }

    #[inline]
    pub(super) fn with_untracked<R>(self, read: impl FnOnce(&T) -> R) -> R {
        read(&self.now_untracked())
    }
}
