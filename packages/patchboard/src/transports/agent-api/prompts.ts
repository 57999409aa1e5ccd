import type { FastifyReply } from 'fastify';
import type { CompletionRequest } from '../../core/resources/completion.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { NEXT_CURSOR, PAGE_QUERY, pageJson, pageOf, type PageQuery } from '../shared/routes/paging.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { type RequestWith, route, type Route, sendJson, type ValueOf } from '../shared/routes/routes.ts';
import { ANY, COUNT, FLAG, listOf, mapOf, object, optional, TEXT } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { messagesView, promptSummaryView } from '../shared/views/resource-views.ts';

const DESCRIBED = { name: TEXT, title: TEXT, description: TEXT };
const ARGUMENTS = { ...mapOf(TEXT), maxProperties: 100 };

const listRoute: Route = route({
  method: 'GET',
  url: '/v1/prompts',
  name: 'listPrompts',
  api: 'agent',
  summary: 'Prompts, by name.',
  scope: 'calls:read',
  query: optional(PAGE_QUERY),
  responses: {
    200: {
      description: 'one page of the prompts that the credential may use',
      schema: object({
        prompts: listOf(
          object(
            {
              ...DESCRIBED,
              arguments: listOf(object({ ...DESCRIBED, required: FLAG }, ['title', 'description'])),
            },
            ['title', 'description'],
          ),
        ),
        next_cursor: NEXT_CURSOR,
      }),
    },
  },
  refusals: [],
  handle: listPrompts,
});

function listPrompts(
  context: HttpContext,
  request: RequestWith<{ query: PageQuery }>,
  reply: FastifyReply,
): undefined {
  const { cursor, limit } = pageOf(request.query);
  const { items, nextCursor } = context.engine.resources.prompts(principalOf(request), cursor, limit);
  const rows = items.map((prompt) => JSON.stringify(promptSummaryView(prompt)));
  sendJson(reply, 200, pageJson('prompts', rows, nextCursor));
}

const getRoute: Route = route({
  method: 'POST',
  url: '/v1/prompts/:name',
  name: 'getPrompt',
  api: 'agent',
  summary: 'The messages of a prompt, made from arguments. Nothing is recorded.',
  scope: 'calls:read',
  params: object({ name: TEXT }),
  body: optional({ arguments: { ...ARGUMENTS, description: 'each a string' } }),
  responses: {
    200: {
      description: 'messages for a model; `content` is a content block of MCP',
      schema: object(
        {
          description: TEXT,
          messages: listOf(object({ role: { enum: ['user', 'assistant'] }, content: ANY })),
        },
        ['description'],
      ),
    },
  },
  refusals: [
    'prompt_not_found',
    'input_invalid',
    'input_unavailable',
    'resource_failed',
    'result_too_large',
    'timeout',
    'rate_limited',
    'overloaded',
  ],
  handle: getPrompt,
});

async function getPrompt(
  context: HttpContext,
  request: RequestWith<{
    params: { name: string };
    body: { arguments?: Readonly<Record<string, string>> };
  }>,
  reply: FastifyReply,
): Promise<void> {
  const { name } = request.params;
  const { arguments: args = {} } = request.body ?? {};
  const { resources } = context.engine;
  const given = await whileConnected(context, reply, (signal) =>
    resources.prompt(principalOf(request), name, args, signal),
  );
  if (given.ok) sendJson(reply, 200, JSON.stringify(messagesView(given.value)));
  else sendProblem(reply, given.failure);
}

const COMPLETE_BODY = {
  ...object(
    {
      prompt: { ...TEXT, description: 'name of the prompt' },
      uri_template: { ...TEXT, description: 'the resource template' },
      name: { ...TEXT, description: 'the argument or variable' },
      value: { ...TEXT, description: 'what was typed so far' },
      arguments: { ...ARGUMENTS, description: 'the other values as far as they are known' },
    },
    ['prompt', 'uri_template', 'arguments'],
  ),
  oneOf: [{ required: ['prompt'] }, { required: ['uri_template'] }],
};

const completeRoute: Route = route({
  method: 'POST',
  url: '/v1/complete',
  name: 'completeArgument',
  api: 'agent',
  summary: 'Suggestions for an argument of a prompt, or for a variable of a resource template.',
  scope: 'calls:read',
  body: COMPLETE_BODY,
  responses: {
    200: {
      description: 'at most 100 values',
      schema: object({ values: listOf(TEXT), total: COUNT, has_more: FLAG }),
    },
  },
  refusals: [
    'prompt_not_found',
    'resource_not_found',
    'input_invalid',
    'resource_failed',
    'timeout',
    'rate_limited',
    'overloaded',
  ],
  handle: completeArgument,
});

async function completeArgument(
  context: HttpContext,
  request: RequestWith<{ body: ValueOf<typeof COMPLETE_BODY> }>,
  reply: FastifyReply,
): Promise<void> {
  const { prompt, uri_template: resourceTemplate = '', ...body } = request.body;
  const of: CompletionRequest['of'] = prompt === undefined ? { resourceTemplate } : { prompt };
  const { resources } = context.engine;
  const found = await whileConnected(context, reply, (signal) =>
    resources.complete(principalOf(request), { of, ...body }, signal),
  );
  if (!found.ok) {
    sendProblem(reply, found.failure);
    return;
  }
  const { values, total, hasMore } = found.value;
  sendJson(reply, 200, JSON.stringify({ values, total, has_more: hasMore }));
}

export const promptLibraryRoutes: readonly Route[] = [listRoute, getRoute, completeRoute];
