import type { FailureCode, OutcomeKnowledge } from '@patchboard/wire';
import { FAILURES, type Failure } from '../core/failures.ts';
import { ADVICE, CHECK_EFFECT, DEFAULT_LANGUAGE, START_AGAIN, type Language } from './advice.ts';

/** The content that a model receives instead of a result. All failures have this shape. */
export interface ToolError {
  readonly ok: false;
  readonly error: string;
  readonly code: FailureCode;
  /** What to do next, in the reader's language. The tool's own recommendations come first. */
  readonly recommendations: readonly string[];
  /** Whether the call may have had an effect. */
  readonly outcome?: OutcomeKnowledge;
  /** The operator's note on the decision. */
  readonly note?: string;
}

export function toolError(failure: Failure, language: Language = DEFAULT_LANGUAGE): ToolError {
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

/** A call that did not start had no effect, so the advice to check for one is replaced. */
function adviceOn({ code, outcome }: Failure, language: Language): readonly string[] {
  const advice = ADVICE[code][language];
  if (outcome !== 'not_started') return advice;
  return advice.map((line) => (line === CHECK_EFFECT[language] ? START_AGAIN[language] : line));
}

/** Adds the meaning of the code in the reader's language; the message itself is not translated. */
function errorText({ code, message }: Failure, language: Language): string {
  if (language === DEFAULT_LANGUAGE) return message;
  const { meaning } = ADVICE[code];
  return message === FAILURES[code].summary ? meaning : `${meaning}:${message}`;
}
