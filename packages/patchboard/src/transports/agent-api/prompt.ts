import type { ResultBlock } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { failure } from '../../core/failures.ts';
import { resultsForModel } from '../../protocols/request-results.ts';
import { PROTOCOL_IDS } from '../../protocols/protocols.ts';
import { formatResultsAs, RESULT_FORMATS } from '../../protocols/result-formats.ts';
import {
  enabledTools,
  configProblem,
  resolveToolCallConfig,
  type ToolCallConfig,
} from '../../protocols/tool-call-config.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import {
  type RequestWith,
  route,
  type Route,
  type Schema,
  sendJson,
  type ValueOf,
} from '../shared/routes/routes.ts';
import {
  ANY,
  COUNT,
  enumOf,
  FLAG,
  listOf,
  mapOf,
  NUMBER,
  object,
  optional,
  TEXT,
} from '../shared/routes/schemas.ts';

const CONFIG = optional({
  enabled: FLAG,
  mode: enumOf(['auto', 'manual']),
  toolToggles: mapOf(FLAG),
  defaultToolEnabled: FLAG,
  maxIterations: COUNT,
  timeout: COUNT,
  requireConfirmation: FLAG,
  parallelExecution: FLAG,
  protocol: enumOf(PROTOCOL_IDS),
});

interface PromptBody {
  readonly config?: Partial<ToolCallConfig>;
  readonly budget?: number;
  readonly relevant_to?: string;
}

const promptRoute: Route = route({
  method: 'POST',
  url: '/v1/prompt',
  name: 'writePrompt',
  api: 'agent',
  summary: 'The prompt that describes the tools enabled by a config, and these tools with their methods.',
  scope: 'tools:call',
  body: optional({
    config: { ...CONFIG, description: 'default: tool calls are off, and the prompt is empty' },
    budget: { ...COUNT, description: 'characters; tools that do not fit are listed by name' },
    relevant_to: {
      ...TEXT,
      description: 'the topic of the conversation; related tools come first',
    },
  }),
  responses: {
    200: {
      description: 'text for the system prompt, or the JSON of a vendor as text',
      schema: object({ prompt: TEXT, tools: listOf(ANY) }),
    },
  },
  refusals: [],
  handle: writePrompt,
});

function writePrompt(
  context: HttpContext,
  request: RequestWith<{ body: PromptBody }>,
  reply: FastifyReply,
): undefined {
  const { config: given = {}, budget, relevant_to: relevantTo } = request.body ?? {};
  let config: ToolCallConfig;
  try {
    config = resolveToolCallConfig(given);
  } catch (error) {
    sendProblem(reply, failure('body_invalid', configProblem(error)));
    return;
  }
  const discovery = context.prompts.for(principalOf(request));
  const prompt = discovery.generatePrompt({
    config,
    ...(budget === undefined ? {} : { budget }),
    ...(relevantTo === undefined ? {} : { relevantTo }),
  });
  const tools = enabledTools(config, discovery.getDiscoveredMethods());
  sendJson(reply, 200, JSON.stringify({ prompt, tools }));
}

/** `blocksOf` leaves malformed blocks out. */
const BLOCK: Schema<ResultBlock> = { type: 'object' };

const RESULT = object(
  {
    requestId: TEXT,
    toolName: TEXT,
    status: enumOf(['success', 'error']),
    result: TEXT,
    durationMs: { ...NUMBER, minimum: 0 },
    code: TEXT,
    callId: TEXT,
    noReply: FLAG,
    content: {
      ...object({ 'patchboard:content': listOf(BLOCK), structured: ANY }, ['structured']),
      description: 'the result, where it has content: vendors that take pictures get them',
    },
  },
  ['code', 'callId', 'noReply', 'content'],
);

const FORMAT_BODY = object({ protocol: enumOf(RESULT_FORMATS), results: listOf(RESULT) });

const formatRoute: Route = route({
  method: 'POST',
  url: '/v1/format',
  name: 'formatResults',
  api: 'agent',
  summary: 'Format results for the next message to the model. Nothing is called.',
  scope: 'tools:call',
  body: FORMAT_BODY,
  responses: {
    200: { description: 'text, or the JSON of a vendor as text', schema: object({ text: TEXT }) },
  },
  refusals: [],
  handle: formatResults,
});

function formatResults(
  _context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof FORMAT_BODY> }>,
  reply: FastifyReply,
): undefined {
  const { protocol, results: given } = request.body;
  // Any text is accepted as the code, and no format has it.
  const results = given.map(({ code: _unused, ...result }) => result);
  sendJson(reply, 200, JSON.stringify({ text: formatResultsAs(protocol, resultsForModel(results)) }));
}

export const promptRoutes: readonly Route[] = [promptRoute, formatRoute];
