import type {
  CallView,
  DiscoveredToolView,
  ParsedRequestView,
  ToolCallConfigView,
  ToolResultView,
} from '@patchboard/wire';
import type { PatchboardClient } from './client.ts';
import { NetworkError, PatchboardError, TimeoutError } from './errors.ts';

/** How tools may be called; what is not given is off, or as the server has it by default. */
export type ToolCallConfig = Partial<ToolCallConfigView>;

/** Asked about a call before it is made, with `requireConfirmation`. */
export type BeforeExecute = (request: ParsedRequestView) => boolean | Promise<boolean>;

export interface ToolCallCycle {
  readonly parsedRequests: readonly ParsedRequestView[];
  /** In the order of the reply. Empty with `mode: 'manual'`. */
  readonly executionResults: readonly ToolResultView[];
  readonly hasToolRequests: boolean;
}

/** Tool calls for a chat in a page or a program that talks to its model itself. No framework needed. */
export interface ToolCalling {
  /** Reads a reply and runs what it asks for, as the config says. */
  processCycle(text: string, config: ToolCallConfig, onBeforeExecute?: BeforeExecute): Promise<ToolCallCycle>;
  /** The results as the next message has them. */
  formatCycleResults(results: readonly ToolResultView[], protocolId?: string): Promise<string>;
  /** The prompt that offers the tools that are switched on. */
  generateToolsPrompt(config: ToolCallConfig, agentId?: string): Promise<string>;
  getDiscoveredMethods(
    filter?: (tool: DiscoveredToolView) => boolean,
  ): Promise<readonly DiscoveredToolView[]>;
  /** Forgets the prompts that were asked for. */
  invalidateDiscoveryCache(): void;
  hasToolCallingEnabled(config: ToolCallConfig | undefined): boolean;
}

const TIMEOUT_MS = 30_000;

export function createToolCalling(client: PatchboardClient): ToolCalling {
  const prompts = new Map<string, Promise<string>>();
  return {
    processCycle: (text, config, onBeforeExecute) => processCycle(client, text, config, onBeforeExecute),
    formatCycleResults: async (results, protocolId = 'vcp') =>
      await client.formatResults(protocolId, results),
    generateToolsPrompt: async (config, agentId = '') => {
      const key = JSON.stringify([agentId, config]);
      const kept = prompts.get(key) ?? client.prompt({ config }).then(({ prompt }) => prompt);
      prompts.set(key, kept);
      try {
        return await kept;
      } catch (error) {
        prompts.delete(key);
        throw error;
      }
    },
    getDiscoveredMethods: async (filter = () => true) => {
      const { tools } = await client.prompt({ config: { enabled: true, defaultToolEnabled: true } });
      return tools.filter(filter);
    },
    invalidateDiscoveryCache: () => prompts.clear(),
    hasToolCallingEnabled: (config) => config?.enabled === true,
  };
}

async function processCycle(
  client: PatchboardClient,
  text: string,
  config: ToolCallConfig,
  onBeforeExecute: BeforeExecute | undefined,
): Promise<ToolCallCycle> {
  if (config.enabled !== true) return { parsedRequests: [], executionResults: [], hasToolRequests: false };
  const { requests, errors } = await client.parseReply(config.protocol ?? 'vcp', text);
  const found = { parsedRequests: requests, hasToolRequests: requests.length + errors.length > 0 };
  if (config.mode === 'manual') return { ...found, executionResults: [] };
  const run = (request: ParsedRequestView): Promise<Placed> =>
    execute(client, request, config, onBeforeExecute);
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
  return { ...found, executionResults: inOrder.map(({ result }) => result) };
}

interface Placed {
  readonly line: number;
  readonly column: number;
  readonly result: ToolResultView;
}

async function execute(
  client: PatchboardClient,
  request: ParsedRequestView,
  config: ToolCallConfig,
  onBeforeExecute: BeforeExecute | undefined,
): Promise<Placed> {
  const { requestId, toolName, line, column, noReply } = request;
  const common = { requestId, toolName, ...(noReply === true ? { noReply } : {}) };
  const ended = await outcomeOf(client, request, config, onBeforeExecute);
  return { line, column, result: { ...common, ...ended } };
}

type Outcome = Pick<ToolResultView, 'status' | 'result' | 'durationMs' | 'callId'>;

async function outcomeOf(
  client: PatchboardClient,
  { toolName, args, command }: ParsedRequestView,
  config: ToolCallConfig,
  onBeforeExecute: BeforeExecute | undefined,
): Promise<Outcome> {
  const request = { toolName, args, command };
  if (!isEnabled(config, toolName)) return refused(`permission_denied: ${toolName} is switched off`);
  if (config.requireConfirmation === true && onBeforeExecute !== undefined) {
    const isAllowed = await onBeforeExecute(request as ParsedRequestView);
    if (!isAllowed) return refused('approval_denied: Permission denied by user');
  }
  const timeoutMs = config.timeout ?? TIMEOUT_MS;
  try {
    const name = command === undefined ? toolName : `${toolName}_${command.trim()}`;
    // In two steps: the time limit is the call's, and the receipt says which call to stop when it passes.
    const { tool_call_id: id } = await client.invoke(name, args);
    return ended(await client.wait(id, { timeoutMs }));
  } catch (error) {
    if (error instanceof TimeoutError && error.toolCallId !== null)
      return await stopped(client, error.toolCallId, timeoutMs);
    // A server that is not there is for the caller to see; a refusal is an answer to the model.
    if (error instanceof PatchboardError && !(error instanceof NetworkError))
      return refused(`${error.code}: ${error.detail}`);
    throw error;
  }
}

/** Unless it ended at the last moment: then that is its result. */
async function stopped(client: PatchboardClient, callId: string, timeoutMs: number): Promise<Outcome> {
  try {
    await client.cancel(callId);
  } catch (error) {
    if (!(error instanceof PatchboardError) || error.code !== 'conflict') throw error;
    return ended(await client.get(callId));
  }
  return { ...refused(`timeout: no result within ${timeoutMs} ms`), callId };
}

function ended({ tool_call_id: callId, status, result, error, duration_ms: durationMs }: CallView): Outcome {
  const common = { callId, durationMs: durationMs ?? 0 };
  if (status !== 'SUCCEEDED')
    return { ...common, status: 'error', result: `${error?.code ?? 'internal'}: ${error?.message ?? ''}` };
  return {
    ...common,
    status: 'success',
    result: typeof result === 'string' ? result : JSON.stringify(result),
  };
}

function refused(result: string): Outcome {
  return { status: 'error', result, durationMs: 0 };
}

/** By tool, or by the module whose method it is. */
function isEnabled(
  { toolToggles = {}, defaultToolEnabled = false }: ToolCallConfig,
  toolName: string,
): boolean {
  const module = toolName.slice(0, Math.max(0, toolName.lastIndexOf('_')));
  const key = [toolName, module].find((name) => Object.hasOwn(toolToggles, name));
  return key === undefined ? defaultToolEnabled : toolToggles[key] === true;
}
