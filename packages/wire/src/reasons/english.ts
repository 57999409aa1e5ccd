import { COMMAND_REASONS, type CommandReasons } from './command-reasons.ts';
import { DECISION_REASONS, type DecisionReasons } from './decision-reasons.ts';
import { JSON_PROBLEMS, type JsonProblems } from './json-problems.ts';
import { PARSE_PROBLEMS, type ParseProblems } from './parse-problems.ts';
import type { Sentences } from './reason.ts';

/** Every code with its parameters. A code is in one family. */
export interface ReasonParams extends DecisionReasons, CommandReasons, ParseProblems, JsonProblems {}

export type ReasonCode = keyof ReasonParams;

/** The sentences of one language, of every code. */
export type ReasonSentences = Sentences<ReasonParams>;

export const ENGLISH: ReasonSentences = {
  ...DECISION_REASONS,
  ...COMMAND_REASONS,
  ...PARSE_PROBLEMS,
  ...JSON_PROBLEMS,
};
