import { INPUT_KINDS, reason } from '@patchboard/wire';
import { failure, problemOf } from '../core/failures.ts';
import { DEFAULT_LIMITS, type Limits } from '../core/limits.ts';
import { decodePolicy } from '../core/access/policy/document.ts';
import { OPERATOR_NAME } from '../core/access/principal.ts';
import { isRecord } from '@patchboard/wire/json';
import { DEFAULT_COMMAND_LIMITS } from '../sandbox/command-limits.ts';
import type { CommandLimits } from '../sandbox/enclosure.ts';
import type { JwtSettings } from '../identity/jwt-identity.ts';
import type { WorkspaceOptions } from '../wiring/sandbox-setup.ts';
import type { HttpOptions } from '../wiring/mounted-apis.ts';
import type { BoardOptions, CallOptions, InvokeOptions } from './board-types.ts';
import { BoardError } from '../sdk/board-error.ts';
import { RESPOND_INPUT, type RespondInputOptions } from '../sdk/tool-call-input.ts';
import { DECIDE_OPTIONS, type DecideOptions } from '../sdk/decide-options.ts';
import {
  anything,
  callable,
  flag,
  must,
  object,
  oneOrMore,
  peerId,
  text,
  texts,
  oneOf,
  wholeNumber,
} from '../sdk/shape.ts';
import type { Problem, Rule, Shape } from '../sdk/shape.ts';
import { ResourceRegistry } from '../sdk/resource-registry.ts';
import { ToolRegistry } from '../sdk/tool-registry.ts';
import { hooks } from '../sdk/tool-shape.ts';

const limits = Object.fromEntries(Object.keys(DEFAULT_LIMITS).map((name) => [name, wholeNumber(1)]));

const jwtShape: Shape<JwtSettings> = { issuer: text, audience: oneOrMore(text), keys: anything };

/** Issuer and audience are required. */
const jwt: Rule = (value, place) =>
  object(jwtShape)(value, place) ??
  jwtShape.issuer(Reflect.get(value as object, 'issuer'), `${place}.issuer`) ??
  jwtShape.audience(Reflect.get(value as object, 'audience'), `${place}.audience`);

const http = object<HttpOptions>({
  allowedHosts: texts,
  allowedOrigins: texts,
  trustProxy: flag,
  jwt,
  mcp: object<NonNullable<HttpOptions['mcp']>>({
    holdMs: wholeNumber(1),
    taskAfterMs: wholeNumber(1),
    names: oneOf(['wire', 'canonical']),
  }),
  prefix: text,
});

const path = must(reason('must_be_folder'), (value) => typeof value === 'string' && value.trim() !== '');

const commandLimits = {
  ...Object.fromEntries(Object.keys(DEFAULT_COMMAND_LIMITS).map((name) => [name, wholeNumber(1)])),
  cpuSeconds: ((value, place) => (value === Infinity ? null : wholeNumber(1)(value, place))) satisfies Rule,
};

const workspace = object<WorkspaceOptions>({
  root: (value, place) => (value === null ? null : path(value, place)),
  shared: (value, place) => (value === null ? null : path(value, place)),
  create: flag,
  network: flag,
  environment: must(reason('must_be_text_object'), isTexts),
  readable: (value, place) => texts(value, place) ?? oneOrMore(path)(value, place),
  limits: object(commandLimits as Shape<CommandLimits>),
  searchPath: text,
  unsafeNoSandbox: flag,
});

const OPTIONS = object<BoardOptions>({
  tools: must(reason('must_be_tools'), (value) => Array.isArray(value) || value instanceof ToolRegistry),
  resources: must(
    reason('must_be_resources'),
    (value) => value instanceof ResourceRegistry || isResourceSet(value),
  ),
  store: must(reason('must_be_store'), (value) => hasAll(value, ['open'])),
  policy: policyRule,
  hooks: oneOrMore(hooks),
  limits: object(limits as Shape<Limits>),
  retain: wholeNumber(1),
  redact: texts,
  workspace,
  // Checked like the config file, by `addBoardUpstreams`.
  upstreams: anything,
  openapi: anything,
  log: must(reason('must_be_log'), (value) => hasAll(value, ['info', 'warn', 'error'])),
  http,
});

const invokeShape: Shape<InvokeOptions> = {
  runId: peerId,
  agentId: peerId,
  idempotencyKey: peerId,
  onInputRequest: callable,
  acceptsInput: must(
    reason('must_be_input_kinds', { kinds: INPUT_KINDS.join(', ') }),
    (value) => typeof value === 'boolean' || isInputKinds(value),
  ),
};

function isInputKinds(value: unknown): boolean {
  return Array.isArray(value) && value.every((kind) => (INPUT_KINDS as readonly unknown[]).includes(kind));
}

const INVOKE = object(invokeShape);

const CALL = object<CallOptions>({
  ...invokeShape,
  signal: must(reason('must_be_abort_signal'), (value) => value instanceof AbortSignal),
});

export function checkBoardOptions(given: BoardOptions): void {
  if (typeof given !== 'object' || given === null) refuse(OPTIONS(given, 'the options of a board'));
  refuse(OPTIONS(given, ''));
}

export function checkCallOptions(given: CallOptions): void {
  refuse(CALL(given, ''));
  refuseOperator(given);
}

export function checkInvokeOptions(given: InvokeOptions): void {
  refuse(INVOKE(given, ''));
  refuseOperator(given);
}

function refuseOperator(given: InvokeOptions): void {
  if (given.agentId === OPERATOR_NAME) refuse([reason('agent_id_of_operator', { name: OPERATOR_NAME })]);
}

export function checkDecideOptions(given: DecideOptions): void {
  refuse(DECIDE_OPTIONS(given, ''));
}

export function checkRespondInput(
  response: RespondInputOptions,
  options: Pick<InvokeOptions, 'agentId'>,
): void {
  refuse(RESPOND_INPUT(response, 'the response') ?? object({ agentId: peerId })(options, ''));
}

/** Refuses an invalid policy at creation. (A stored policy that is invalid denies every call instead.) */
function policyRule(value: unknown, place: string): ReturnType<Rule> {
  const decoded = decodePolicy(value);
  if (decoded.ok) return null;
  return decoded.problems.map((problem) =>
    reason('request_issue', { place: `${place}${problem.path}`, problem: problemOf(problem) }),
  );
}

function isTexts(value: unknown): boolean {
  return isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
}

const RESOURCE_LISTS = ['resources', 'resourceTemplates', 'prompts'];

function isResourceSet(value: unknown): boolean {
  return (
    isRecord(value) &&
    Object.entries(value).every(([name, list]) => RESOURCE_LISTS.includes(name) && Array.isArray(list))
  );
}

function hasAll(value: unknown, names: readonly string[]): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    names.every((name) => typeof Reflect.get(value, name) === 'function')
  );
}

function refuse(problem: Problem | null): void {
  if (problem !== null) throw new BoardError(failure('body_invalid', problem));
}
