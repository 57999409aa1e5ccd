import { reason } from '@patchboard/wire';
import { LANGUAGES } from '../sdk/advice.ts';
import {
  anything,
  callable,
  flag,
  must,
  object,
  oneOf,
  oneOrMore,
  peerId,
  text,
  texts,
  wholeNumber,
  type Rule,
} from '../sdk/shape.ts';
import { hooks } from '../sdk/tool-shape.ts';
import type { SubTask } from '../core/agent-handle.ts';
import type { BudgetLimits } from './loop/budget.ts';
import { modelProblem, type ModelSettings } from './loop/model.ts';
import type { AgentOptions } from './options.ts';

const signal = must(reason('must_be_abort_signal'), (value) => value instanceof AbortSignal);

const settings = object<ModelSettings>({
  maxOutputTokens: anything,
  temperature: anything,
  topP: anything,
  topK: anything,
  presencePenalty: anything,
  frequencyPenalty: anything,
  stopSequences: texts,
  seed: anything,
  headers: anything,
  providerOptions: anything,
});

const model: Rule = (value, place) => {
  const problem = modelProblem(value);
  return problem === null ? null : [reason('request_issue', { place, problem: [problem] })];
};

export const AGENT_OPTIONS: Rule = object<AgentOptions>({
  board: must(reason('must_be_board'), (value) => has(value, 'host')),
  model,
  id: peerId,
  name: peerId,
  system: text,
  tools: texts,
  // `permission` and `toolCalling` have their own decoders with error messages.
  permission: anything,
  hooks: oneOrMore(hooks),
  toolCalling: anything,
  maxIterations: wholeNumber(1),
  stopWhen: oneOrMore(callable),
  budget: object<BudgetLimits>({ modelCalls: wholeNumber(1), tokens: wholeNumber(1) }),
  maxDepth: wholeNumber(0),
  dialect: must(reason('must_be_dialect'), (value) => has(value, 'encode')),
  parallel: flag,
  settings,
  language: oneOf(LANGUAGES),
  maxResultBytes: wholeNumber(1),
  maxRetries: wholeNumber(0),
});

export const SUB_TASK: Rule = object<SubTask>({
  prompt: text,
  callId: text,
  signal,
  system: text,
  tools: texts,
  maxIterations: wholeNumber(1),
});

function has(value: unknown, member: string): boolean {
  return typeof value === 'object' && value !== null && Reflect.get(value, member) !== undefined;
}
