/** A value in the sentence of a reason. A list of reasons stands for the sentences of its members. */
export type ReasonParam = string | number | readonly ReasonView[];

/** Why something was decided, refused or not understood, as it travels. A newer server may send codes that are unknown here. */
export interface ReasonView {
  readonly code: string;
  readonly params: Readonly<Record<string, ReasonParam>>;
}

/** The parameters as a sentence gets them: a nested reason is a text by then. */
type SentenceParams<Params> = {
  readonly [Name in keyof Params]: Params[Name] extends string | number ? Params[Name] : string;
};

/** The sentences of one language: one function for each code. A table without the sentence of a code does not compile. */
export type Sentences<Codes> = {
  readonly [Code in keyof Codes]: (params: SentenceParams<Codes[Code]>) => string;
};

/** The parameters of a code that has none. */
export type NoParams = Readonly<Record<never, never>>;
