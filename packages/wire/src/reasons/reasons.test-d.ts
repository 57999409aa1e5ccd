import { ENGLISH, type ReasonSentences } from './english.ts';
import { reason } from './reason-text.ts';

const { no_rule: _sentence, ...incomplete } = ENGLISH;

// @ts-expect-error A table without the sentence of a code is no table of sentences.
export const missing: ReasonSentences = incomplete;

// @ts-expect-error Nor is one whose sentence asks for a parameter that the code does not have.
export const wrong: ReasonSentences = { ...ENGLISH, granted: ({ who }: { who: string }) => who };

// @ts-expect-error A code that has no sentence cannot be used.
reason('moon_is_full');

// @ts-expect-error The parameters of a code are needed.
reason('granted');

// @ts-expect-error They are those of this code.
reason('granted', { pattern: '*' });
