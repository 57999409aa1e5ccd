import type { FailureCode, OutcomeKnowledge } from '@patchboard/wire';
import { FAILURES, type Failure } from '../core/failures.ts';
import { ADVICE, CHECK_EFFECT, START_AGAIN, type Language } from './advice.ts';

/** What a model reads instead of a result. The same shape for every failure of every tool. */
export interface ToolError {
  readonly ok: false;
  readonly error: string;
  readonly code: FailureCode;
  /** What can be done about it, in the reader's language; a tool's own come first. */
  readonly recommendations: readonly string[];
  /** Whether anything may have happened. */
  readonly outcome?: OutcomeKnowledge;
  /** What an operator wrote when they decided. */
  readonly note?: string;
}

export function toolError(failure: Failure, language: Language = 'en'): ToolError {
  const { code, outcome, note, recommendations = [] } = failure;
  return {
    ok: false,
    error: errorText(failure, language),
    code,
    recommendations: [...recommendations, ...adviceOn(failure, language)],
    ...(outcome === undefined ? {} : { outcome }),
    ...(note === undefined ? {} : { note }),
  };
}

/** Nobody needs to check for the effect of what did not start. */
function adviceOn({ code, outcome }: Failure, language: Language): readonly string[] {
  const advice = ADVICE[code][language];
  if (outcome !== 'not_started') return advice;
  return advice.map((line) => (line === CHECK_EFFECT[language] ? START_AGAIN[language] : line));
}

/** What happened exactly is in the words of whoever said it; what it means is in the reader's. */
function errorText({ code, message }: Failure, language: Language): string {
  if (language === 'en') return message;
  const { meaning } = ADVICE[code];
  return message === FAILURES[code].summary ? meaning : `${meaning}:${message}`;
}
