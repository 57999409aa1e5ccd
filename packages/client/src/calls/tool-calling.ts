import type {
  DiscoveredToolView,
  ParsedRequestView,
  ToolCallConfigView,
  ToolResultView,
} from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import { NetworkError, PatchboardError } from '../errors.ts';
import { endWithin } from './end-within.ts';
import type { OnInputRequest } from './input-requests.ts';
import { PromptCache } from './prompt-cache.ts';
import { toolResultOf } from './tool-result.ts';

/** How tools may be called. Omitted switches are off; other omitted members use the server's default. */
export type ToolCallConfig = Partial<ToolCallConfigView>;

/** Called before each call if `requireConfirmation` is set. The call is refused if it returns false or throws, or if no callback is given. */
export type BeforeExecute = (request: ParsedRequestView) => boolean | Promise<boolean>;

export interface ToolCallCycle {
  readonly parsedRequests: readonly ParsedRequestView[];
  /** In the order of the requests in the reply. Empty with `mode: 'manual'`. */
  readonly executionResults: readonly ToolResultView[];
  readonly hasToolRequests: boolean;
  /** Whether there are results for the model and `iteration` is below `maxIterations`. */
  readonly shouldContinue: boolean;
}

/** Tool calling for a web page or program that sends requests to its model itself. Independent of any UI framework. */
export interface ToolCalling {
  /**
   * Parses a model reply and runs its tool requests according to the config. `iteration` is the number of the reply to
   * the same message, starting at 1 (default); requests of a reply beyond `maxIterations` are not run.
   */
  processCycle(
    text: string,
    config: ToolCallConfig,
    onBeforeExecute?: BeforeExecute,
    iteration?: number,
  ): Promise<ToolCallCycle>;
  /** Formats the results as text for the next message to the model. */
  formatCycleResults(results: readonly ToolResultView[], protocolId?: string): Promise<string>;
  /** Returns a prompt that describes the enabled tools. `agentId` is part of the cache key. */
  generateToolsPrompt(config: ToolCallConfig, agentId?: string): Promise<string>;
  getDiscoveredMethods(
    filter?: (tool: DiscoveredToolView) => boolean,
  ): Promise<readonly DiscoveredToolView[]>;
  /** Clears the cached prompts. */
  invalidateDiscoveryCache(): void;
  hasToolCallingEnabled(config: ToolCallConfig | undefined): boolean;
}

export interface ToolCallingOptions {
  /**
   * If set, the client subscribes to the server's events with the first prompt, until the signal aborts, and clears the
   * prompt cache when the tools change. Without it, prompts are cached until `invalidateDiscoveryCache`.
   */
  readonly followUntil?: AbortSignal;
  /**
   * Responds to input requests of tools. The time that it takes does not count for `timeout`. Without it, a tool that needs
   * input fails with `input_unavailable`.
   */
  readonly onInputRequest?: OnInputRequest;
}

const TIMEOUT_MS = 30_000;
const MAX_ITERATIONS = 20;

export function createToolCalling(client: PatchboardClient, options: ToolCallingOptions = {}): ToolCalling {
  const prompts = new PromptCache(client, options.followUntil);
  const { onInputRequest } = options;
  return {
    processCycle: (text, config, onBeforeExecute, iteration) =>
      processCycle(client, text, {
        config,
        onBeforeExecute,
        onInputRequest,
        iteration: iteration ?? 1,
      }),
    formatCycleResults: async (results, protocolId = 'vcp') =>
      await client.formatResults(protocolId, results),
    generateToolsPrompt: async (config, agentId = '') => await prompts.get(config, agentId),
    getDiscoveredMethods: async (filter = () => true) => {
      const { tools } = await client.prompt({ config: { enabled: true, defaultToolEnabled: true } });
      return tools.filter(filter);
    },
    invalidateDiscoveryCache: () => prompts.clear(),
    hasToolCallingEnabled: (config) => config?.enabled === true,
  };
}

async function processCycle(client: PatchboardClient, text: string, round: Round): Promise<ToolCallCycle> {
  const { config, iteration } = round;
  if (!Number.isSafeInteger(iteration) || iteration < 1)
    throw new TypeError('iteration must be an integer of at least 1');
  const nothing = { parsedRequests: [], executionResults: [], hasToolRequests: false, shouldContinue: false };
  if (config.enabled !== true) return nothing;
  const { requests, errors, omitted } = await client.parseReply(config.protocol ?? 'vcp', text);
  if (requests.length + errors.length === 0) return nothing;
  const found = { parsedRequests: requests, hasToolRequests: true };
  if (config.mode === 'manual') return { ...found, executionResults: [], shouldContinue: false };
  const isOn = await switchesOf(client, config, requests);
  const run = (request: ParsedRequestView): Promise<Placed> => execute(client, request, { ...round, isOn });
  const ran: Placed[] = [];
  if (config.parallelExecution === true) ran.push(...(await Promise.all(requests.map(run))));
  else for (const request of requests) ran.push(await run(request));
  // Errors of a request that was parsed appear in the result of its call.
  const unread = errors.filter(
    ({ line, column }) => !requests.some((one) => one.line === line && one.column === column),
  );
  const damaged = unread.map(({ code, message, line, column }, at): Placed => {
    const result = `${code}: line ${line}, column ${column}: ${message}`;
    return {
      line,
      column,
      result: { requestId: `damaged-${at + 1}`, toolName: '', status: 'error', result, durationMs: 0 },
    };
  });
  const inOrder = [...ran, ...damaged].sort((a, b) => a.line - b.line || a.column - b.column);
  if (omitted !== undefined && omitted.requests > 0) inOrder.push(notRun(omitted.requests));
  const results = inOrder.map(({ result }) => result);
  const isReported = results.some(({ noReply, status }) => noReply !== true || status === 'error');
  const shouldContinue = isReported && iteration < (config.maxIterations ?? MAX_ITERATIONS);
  return { ...found, executionResults: results, shouldContinue };
}

/** Parameters of one `processCycle`. */
interface Round {
  readonly config: ToolCallConfig;
  readonly onBeforeExecute: BeforeExecute | undefined;
  readonly onInputRequest: OnInputRequest | undefined;
  readonly iteration: number;
}

interface Placed {
  readonly line: number;
  readonly column: number;
  readonly result: ToolResultView;
}

/** Switches are set per tool or per module. Only the server knows the module of a tool, so this may fetch the list. */
async function switchesOf(
  client: PatchboardClient,
  { toolToggles = {}, defaultToolEnabled = false }: ToolCallConfig,
  requests: readonly ParsedRequestView[],
): Promise<IsSwitchedOn> {
  const isNamed = (name: string): boolean => Object.hasOwn(toolToggles, name);
  const isOpen = Object.keys(toolToggles).length > 0 && !requests.every(({ toolName }) => isNamed(toolName));
  const config = { enabled: true, toolToggles, defaultToolEnabled };
  const offered = isOpen ? namesOf((await client.prompt({ config })).tools) : null;
  return ({ toolName, arguments: read }) => {
    if (isNamed(toolName)) return toolToggles[toolName] === true;
    // For an unknown tool the server returns an error.
    return offered === null || read === undefined ? defaultToolEnabled : offered.has(toolName);
  };
}

function namesOf(tools: readonly DiscoveredToolView[]): ReadonlySet<unknown> {
  return new Set(
    tools.flatMap(({ toolId, methods }) =>
      methods.map(({ name, registeredName }) => registeredName ?? `${toolId}_${name}`),
    ),
  );
}

/** An error result for requests that the parse report left out. */
function notRun(count: number): Placed {
  const result = `too_large: ${count} more requests of this reply were not run: write fewer or shorter ones`;
  return { line: 0, column: 0, result: { requestId: 'omitted', toolName: '', ...refused(result) } };
}

type IsSwitchedOn = (request: ParsedRequestView) => boolean;

interface SwitchedRound extends Round {
  readonly isOn: IsSwitchedOn;
}

async function execute(
  client: PatchboardClient,
  request: ParsedRequestView,
  round: SwitchedRound,
): Promise<Placed> {
  const { requestId, toolName, line, column, noReply } = request;
  const common = { requestId, toolName, ...(noReply === true ? { noReply } : {}) };
  const outcome = await outcomeOf(client, request, round);
  // The result carries the tool name and request id from the model's reply.
  return { line, column, result: { ...outcome, ...common } };
}

type Outcome = Pick<ToolResultView, 'status' | 'result' | 'durationMs' | 'callId'>;

async function outcomeOf(
  client: PatchboardClient,
  request: ParsedRequestView,
  { config, onBeforeExecute, onInputRequest, iteration, isOn }: SwitchedRound,
): Promise<Outcome> {
  const { toolName, args, command } = request;
  const { maxIterations = MAX_ITERATIONS } = config;
  if (iteration > maxIterations)
    return refused(`conflict: maxIterations is reached: ${maxIterations} replies may call tools`);
  if (!isOn(request)) return refused(`permission_denied: ${toolName} is switched off`);
  const denied = config.requireConfirmation === true ? await refusalOf(request, onBeforeExecute) : null;
  if (denied !== null) return refused(denied);
  const timeoutMs = config.timeout ?? TIMEOUT_MS;
  try {
    const name = command === undefined ? toolName : `${toolName}_${command.trim()}`;
    // Two steps: the id in the receipt is needed to cancel the call at its time limit.
    const { tool_call_id: id } = await client.invoke(name, args, {
      acceptsInput: onInputRequest !== undefined,
    });
    const call = await endWithin(client, id, timeoutMs, onInputRequest);
    return call === null ? await cancelled(client, id, timeoutMs) : toolResultOf(call);
  } catch (error) {
    // A network error is thrown to the caller; a refusal becomes a result for the model.
    if (error instanceof PatchboardError && !(error instanceof NetworkError))
      return refused(`${error.code}: ${error.detail}`);
    throw error;
  }
}

/** Returns null if the call was confirmed, otherwise the reason of the refusal. */
async function refusalOf(
  request: ParsedRequestView,
  confirm: BeforeExecute | undefined,
): Promise<string | null> {
  try {
    if (confirm === undefined)
      return 'approval_denied: requireConfirmation is set, and no onBeforeExecute was given';
    return (await confirm(request)) === true ? null : 'approval_denied: Permission denied by user';
  } catch (error) {
    return `approval_denied: onBeforeExecute failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Cancels the call. If it has ended meanwhile, returns its result. */
async function cancelled(client: PatchboardClient, callId: string, timeoutMs: number): Promise<Outcome> {
  try {
    await client.cancel(callId);
  } catch (error) {
    if (!(error instanceof PatchboardError) || error.code !== 'conflict') throw error;
    return toolResultOf(await client.get(callId));
  }
  return { ...refused(`timeout: no result within ${timeoutMs} ms`), callId };
}

function refused(result: string): Outcome {
  return { status: 'error', result, durationMs: 0 };
}
