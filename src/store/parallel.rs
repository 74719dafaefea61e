//! A parallel map over a slice: scoped threads, order kept, no pool. For loading a whole board at start.

/// Fewer items than this are not worth a thread.
const WORTH_A_THREAD: usize = 128;

/// Applies `f` to every item on as many threads as the machine has cores (2 to 8). A panic in `f` goes on in the caller.
pub(super) fn map<T: Send, R: Send>(items: Vec<T>, f: impl Fn(T) -> R + Sync) -> Vec<R> {
    if items.len() < WORTH_A_THREAD {
        return items.into_iter().map(f).collect();
    }
    let threads = std::thread::available_parallelism().map_or(2, std::num::NonZero::get).clamp(2, 8);
    let size = items.len().div_ceil(threads);
    let mut rest = items;
    let mut chunks = Vec::with_capacity(threads);
    while rest.len() > size {
        let tail = rest.split_off(size);
        chunks.push(std::mem::replace(&mut rest, tail));
    }
    chunks.push(rest);
    std::thread::scope(|scope| {
        let f = &f;
        let run = |chunk: Vec<T>| scope.spawn(move || chunk.into_iter().map(f).collect::<Vec<R>>());
        let handles: Vec<_> = chunks.into_iter().map(run).collect();
        handles.into_iter().flat_map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
    })
}

#[cfg(test)]
mod tests {
    #[test]
    fn order_is_kept_however_many_items_there_are() {
        for n in [0_usize, 1, 127, 128, 1001] {
            let doubled = super::map((0..n).collect(), |i| i * 2);
            assert_eq!(doubled, (0..n).map(|i| i * 2).collect::<Vec<_>>());
        }
    }
}
