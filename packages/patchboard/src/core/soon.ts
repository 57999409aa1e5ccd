/** Known now, or later. A promise for what is known at once would cost more than knowing it. */
export type Soon<T> = T | Promise<T>;

/** The next step: at once where the value is known, else when it is. */
export function soon<T, R>(value: Soon<T>, next: (value: T) => Soon<R>): Soon<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}
