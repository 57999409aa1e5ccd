import type { PolicyWarningCode } from '@patchboard/wire';
import type { PolicyWarning } from './review.ts';

type Params = PolicyWarning['params'];

/** The English sentence of each warning. The console has its own table. */
const SENTENCES: Readonly<Record<PolicyWarningCode, (params: Params) => string>> = {
  pattern_matches_nothing: ({ rule, pattern, meant }) =>
    `${rule}: "${pattern}" matches no tool that is registered now` +
    (meant === undefined ? '' : `; did you mean ${meant}?`),
  agent_without_key: ({ rule, agent }) =>
    `${rule}: no key in force is named "${agent}", so no call is decided by these lines`,
  rule_shadowed: ({ rule, pattern, by, by_pattern: byPattern }) =>
    `${rule}: "${pattern}" never decides, because ${by} ("${byPattern}") comes first`,
};

export function warningText({ code, params }: PolicyWarning): string {
  return SENTENCES[code](params);
}
