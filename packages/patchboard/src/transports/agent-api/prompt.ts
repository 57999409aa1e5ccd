import type { FastifyReply, FastifyRequest } from 'fastify';
import { failure } from '../../core/failures.ts';
import { resultsForModel } from '../../protocols/request-results.ts';
import type { ToolExecutionResult } from '../../protocols/protocol.ts';
import { PROTOCOL_IDS } from '../../protocols/protocols.ts';
import { formatResultsAs, RESULT_FORMATS, type ResultFormat } from '../../protocols/result-formats.ts';
import {
  enabledTools,
  configProblem,
  resolveToolCallConfig,
  type ToolCallConfig,
} from '../../protocols/tool-call-config.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { sendJson, type Route } from '../shared/routes/routes.ts';
import { ANY, COUNT, FLAG, listOf, object, optional, TEXT } from '../shared/routes/schemas.ts';

const CONFIG = optional({
  enabled: FLAG,
  mode: { enum: ['auto', 'manual'] },
  toolToggles: { type: 'object', additionalProperties: FLAG },
  defaultToolEnabled: FLAG,
  maxIterations: COUNT,
  timeout: COUNT,
  requireConfirmation: FLAG,
  parallelExecution: FLAG,
  protocol: { enum: PROTOCOL_IDS },
});

interface PromptBody {
  readonly config?: Partial<ToolCallConfig>;
  readonly budget?: number;
  readonly relevant_to?: string;
}

const promptRoute: Route = {
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
};

function writePrompt(context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const { config: given = {}, budget, relevant_to: relevantTo } = (request.body ?? {}) as PromptBody;
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

const RESULT = object(
  {
    requestId: TEXT,
    toolName: TEXT,
    status: { enum: ['success', 'error'] },
    result: TEXT,
    durationMs: { type: 'number', minimum: 0 },
    code: TEXT,
    callId: TEXT,
    noReply: FLAG,
    content: {
      ...object({ 'patchboard:content': listOf({ type: 'object' }), structured: ANY }, ['structured']),
      description: 'the result, where it has content: vendors that take pictures get them',
    },
  },
  ['code', 'callId', 'noReply', 'content'],
);

const formatRoute: Route = {
  method: 'POST',
  url: '/v1/format',
  name: 'formatResults',
  api: 'agent',
  summary: 'Format results for the next message to the model. Nothing is called.',
  scope: 'tools:call',
  body: object({ protocol: { enum: RESULT_FORMATS }, results: listOf(RESULT) }),
  responses: {
    200: { description: 'text, or the JSON of a vendor as text', schema: object({ text: TEXT }) },
  },
  refusals: [],
  handle: formatResults,
};

function formatResults(_context: HttpContext, request: FastifyRequest, reply: FastifyReply): undefined {
  const { protocol, results } = request.body as {
    protocol: ResultFormat;
    results: readonly ToolExecutionResult[];
  };
  sendJson(reply, 200, JSON.stringify({ text: formatResultsAs(protocol, resultsForModel(results)) }));
}

export const promptRoutes: readonly Route[] = [promptRoute, formatRoute];
