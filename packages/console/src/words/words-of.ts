/** The same keys, other words: the Chinese have the shape of the English, or they do not compile. */
export type WordsOf<T> = { [K in keyof T]: T[K] extends string ? string : WordsOf<T[K]> };
