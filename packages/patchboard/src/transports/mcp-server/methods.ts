import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  DiscoverRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  PingRequestSchema,
  ReadResourceRequestSchema,
  SubscribeRequestSchema,
  SubscriptionsListenRequestSchema,
  UnsubscribeRequestSchema,
  SetLevelRequestSchema,
} from '@modelcontextprotocol/core';
import { z } from 'zod';
import { callTool } from './calls/call-tool.ts';
import { complete } from './lists/completion.ts';
import { discover } from './discover.ts';
import type { Era, MethodHandler } from './exchange.ts';
import { getPrompt, listPrompts } from './lists/prompts.ts';
import { listResources, listResourceTemplates, readResource } from './lists/resources.ts';
import { RPC_CODES } from '../../protocols/mcp/rpc-codes.ts';
import { invalidParams, RpcError } from './messages/rpc-error.ts';
import { subscribe, unsubscribe } from './legacy/session-resources.ts';
import { listen } from './lists/subscriptions.ts';
import { cancelTask, getTask, updateTask } from './tasks/tasks.ts';
import { setLogLevel } from './calls/log-levels.ts';
import { listTools } from './lists/tool-list.ts';

interface RequestSchema {
  safeParse(request: unknown): { success: boolean; error?: { issues: readonly Issue[] } | undefined };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** A method with the SDK's schema of its requests. */
export interface Method {
  readonly schema: RequestSchema;
  readonly handle: MethodHandler;
}

const EMPTY: MethodHandler = () => '{}';

/** The SDK has no schemas for the tasks extension of 2026-07-28. */
const TaskRequestSchema = z.looseObject({ params: z.looseObject({ taskId: z.string().min(1) }) });

const UpdateTaskRequestSchema = z.looseObject({
  params: z.looseObject({ taskId: z.string().min(1), inputResponses: z.looseObject({}) }),
});

const SHARED: Readonly<Record<string, Method>> = {
  'tools/list': { schema: ListToolsRequestSchema, handle: listTools },
  'tools/call': { schema: CallToolRequestSchema, handle: callTool },
  'resources/list': { schema: ListResourcesRequestSchema, handle: listResources },
  'resources/templates/list': { schema: ListResourceTemplatesRequestSchema, handle: listResourceTemplates },
  'resources/read': { schema: ReadResourceRequestSchema, handle: readResource },
  'prompts/list': { schema: ListPromptsRequestSchema, handle: listPrompts },
  'prompts/get': { schema: GetPromptRequestSchema, handle: getPrompt },
  'completion/complete': { schema: CompleteRequestSchema, handle: complete },
};

/** The methods of each era. A test compares them with the methods that the SDK knows. */
export const METHODS: Readonly<Record<Era, Readonly<Record<string, Method>>>> = {
  modern: {
    ...SHARED,
    'server/discover': { schema: DiscoverRequestSchema, handle: discover },
    'tasks/get': { schema: TaskRequestSchema, handle: getTask },
    'tasks/update': { schema: UpdateTaskRequestSchema, handle: updateTask },
    'tasks/cancel': { schema: TaskRequestSchema, handle: cancelTask },
    'subscriptions/listen': { schema: SubscriptionsListenRequestSchema, handle: listen },
  },
  legacy: {
    ...SHARED,
    ping: { schema: PingRequestSchema, handle: EMPTY },
    'resources/subscribe': { schema: SubscribeRequestSchema, handle: subscribe },
    'resources/unsubscribe': { schema: UnsubscribeRequestSchema, handle: unsubscribe },
    'logging/setLevel': { schema: SetLevelRequestSchema, handle: setLogLevel },
  },
};

/** Throws if the method does not exist in that era, or its parameters do not fit. */
export function findMethod(era: Era, method: string, params: Readonly<Record<string, unknown>>): Method {
  const found = Object.hasOwn(METHODS[era], method) ? METHODS[era][method] : undefined;
  if (found === undefined)
    throw new RpcError(RPC_CODES.methodNotFound, `Method not found: ${method}`, {
      status: era === 'modern' ? 404 : 200,
    });
  const parsed = found.schema.safeParse({ method, params });
  if (parsed.success) return found;
  const problems = (parsed.error?.issues ?? []).map(
    ({ path, message }) => `${path.map(String).join('.')}: ${message}`,
  );
  throw invalidParams(`Invalid request: ${problems.slice(0, 5).join('; ')}`);
}
