/**
 * A value, or a promise of it. With the memory store, which returns values, a call runs without promises: decision 108 has
 * the measurements.
 */
export type MaybePromise<T> = T | Promise<T>;

/** Calls `next` with the value: synchronously if it is there, else when the promise resolves. */
export function andThen<T, R>(value: MaybePromise<T>, next: (value: T) => MaybePromise<R>): MaybePromise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
