/** The same keys with other texts: a Chinese table that misses a key does not compile. */
export type WordsOf<T> = { [K in keyof T]: T[K] extends string ? string : WordsOf<T[K]> };
