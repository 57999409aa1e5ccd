import type {
  DiscoveredToolView,
  ParsedRequestView,
  ToolCallConfigView,
  ToolResultView,
} from '@patchboard/wire';
import type { PatchboardClient } from '../client.ts';
import { NetworkError, PatchboardError } from '../errors.ts';
import { endWithin } from './end-within.ts';
import { PromptCache } from './prompt-cache.ts';
import { toolResultOf } from './tool-result.ts';
import { switchesOf, type IsSwitchedOn } from './tool-switches.ts';

/** How tools may be called; what is not given is off, or as the server has it by default. */
export type ToolCallConfig = Partial<ToolCallConfigView>;

/** Asked about a call before it is made, with `requireConfirmation`; false or a throw refuses it, and so does nobody to ask. */
export type BeforeExecute = (request: ParsedRequestView) => boolean | Promise<boolean>;

export interface ToolCallCycle {
  readonly parsedRequests: readonly ParsedRequestView[];
  /** In the order of the reply. Empty with `mode: 'manual'`. */
  readonly executionResults: readonly ToolResultView[];
  readonly hasToolRequests: boolean;
  /** There are results for the model, and it may reply once more: `iteration` has not reached `maxIterations`. */
  readonly shouldContinue: boolean;
}

/** Tool calls for a chat in a page or a program that talks to its model itself. No framework needed. */
export interface ToolCalling {
  /**
   * Reads a reply and runs what it asks for, as the config says. `iteration`: which reply to one message it is, from 1;
   * what comes after `maxIterations` is not run. Default 1.
   */
  processCycle(
    text: string,
    config: ToolCallConfig,
    onBeforeExecute?: BeforeExecute,
    iteration?: number,
  ): Promise<ToolCallCycle>;
  /** The results as the next message has them. */
  formatCycleResults(results: readonly ToolResultView[], protocolId?: string): Promise<string>;
  /** The prompt that offers the tools that are switched on. `agentId`: prompts are kept apart by it. */
  generateToolsPrompt(config: ToolCallConfig, agentId?: string): Promise<string>;
  getDiscoveredMethods(
    filter?: (tool: DiscoveredToolView) => boolean,
  ): Promise<readonly DiscoveredToolView[]>;
  /** Forgets the prompts that were kept. */
  invalidateDiscoveryCache(): void;
  hasToolCallingEnabled(config: ToolCallConfig | undefined): boolean;
}

export interface ToolCallingOptions {
  /**
   * Follows the server's events from the first prompt on, until the signal aborts: a prompt is forgotten as soon as the
   * tools change. Without it, prompts are kept until `invalidateDiscoveryCache`.
   */
  readonly followUntil?: AbortSignal;
}

const TIMEOUT_MS = 30_000;
const MAX_ITERATIONS = 20;

export function createToolCalling(client: PatchboardClient, options: ToolCallingOptions = {}): ToolCalling {
  const prompts = new PromptCache(client, options.followUntil);
  return {
    processCycle: (text, config, onBeforeExecute, iteration) =>
      processCycle(client, text, { config, onBeforeExecute, iteration: iteration ?? 1 }),
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
    throw new TypeError('iteration must be a whole number from 1');
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
  // What is wrong with a request that was read is told by the call itself.
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
  const shouldContinue = iteration < (config.maxIterations ?? MAX_ITERATIONS);
  return { ...found, executionResults: inOrder.map(({ result }) => result), shouldContinue };
}

/** As it was asked for. */
interface Round {
  readonly config: ToolCallConfig;
  readonly onBeforeExecute: BeforeExecute | undefined;
  readonly iteration: number;
}

interface Placed {
  readonly line: number;
  readonly column: number;
  readonly result: ToolResultView;
}

/** The reply asks for more than its report lists. */
function notRun(count: number): Placed {
  const result = `too_large: ${count} more requests of this reply were not run: write fewer or shorter ones`;
  return { line: 0, column: 0, result: { requestId: 'omitted', toolName: '', ...refused(result) } };
}

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
  // The request keeps the name and the id that the model gave it.
  return { line, column, result: { ...outcome, ...common } };
}

type Outcome = Pick<ToolResultView, 'status' | 'result' | 'durationMs' | 'callId'>;

async function outcomeOf(
  client: PatchboardClient,
  request: ParsedRequestView,
  { config, onBeforeExecute, iteration, isOn }: SwitchedRound,
): Promise<Outcome> {
  const { toolName, args, command } = request;
  const { maxIterations = MAX_ITERATIONS } = config;
  if (iteration > maxIterations)
    return refused(`conflict: maxIterations is reached: ${maxIterations} replies may call tools`);
  if (!isOn(request)) return refused(`permission_denied: ${toolName} is switched off`);
  const denied = config.requireConfirmation === true ? await objection(request, onBeforeExecute) : null;
  if (denied !== null) return refused(denied);
  const timeoutMs = config.timeout ?? TIMEOUT_MS;
  try {
    const name = command === undefined ? toolName : `${toolName}_${command.trim()}`;
    // In two steps: the time limit is the call's, and the receipt says which call to stop when it passes.
    const { tool_call_id: id } = await client.invoke(name, args);
    const call = await endWithin(client, id, timeoutMs);
    return call === null ? await stopped(client, id, timeoutMs) : toolResultOf(call);
  } catch (error) {
    // A server that is not there is for the caller to see; a refusal is an answer to the model.
    if (error instanceof PatchboardError && !(error instanceof NetworkError))
      return refused(`${error.code}: ${error.detail}`);
    throw error;
  }
}

/** Null: it was confirmed. With nobody to ask, the answer is no. */
async function objection(request: ParsedRequestView, ask: BeforeExecute | undefined): Promise<string | null> {
  try {
    if (ask === undefined)
      return 'approval_denied: every call is to be confirmed, and there is nobody to ask';
    return (await ask(request)) === true ? null : 'approval_denied: Permission denied by user';
  } catch (error) {
    return `approval_denied: the question failed: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Unless it ended at the last moment: then that is its result. */
async function stopped(client: PatchboardClient, callId: string, timeoutMs: number): Promise<Outcome> {
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
