import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { message, messageEvents } from './anthropic-wire.ts';
import { chatCompletion, chatCompletionEvents } from './openai-wire.ts';
import { responseEvents, responseObject } from './responses-wire.ts';
import {
  nextReply,
  spoken,
  type Script,
  type ScriptedTurn,
  type SeenRequest,
  type SpokenReply,
} from './script.ts';

/** A status that clients do not retry. */
const SCRIPT_FAULT = 400;

/** A server with the API of a model vendor and scripted replies. */
export interface ScriptedModels {
  /** For `createOpenAI({ baseURL })` and `createAnthropic({ baseURL })`. */
  readonly baseUrl: string;
  /** The requests received so far. */
  readonly requests: readonly SeenRequest[];
  close(): Promise<void>;
}

interface Format {
  readonly name: SeenRequest['format'];
  readonly whole: (reply: SpokenReply) => unknown;
  readonly events: (reply: SpokenReply) => readonly string[];
}

const FORMATS: ReadonlyMap<string, Format> = new Map([
  ['/v1/chat/completions', { name: 'openai', whole: chatCompletion, events: chatCompletionEvents }],
  ['/v1/responses', { name: 'openai-responses', whole: responseObject, events: responseEvents }],
  ['/v1/messages', { name: 'anthropic', whole: message, events: messageEvents }],
]);

/**
 * Listens on a free loopback port. Supports OpenAI's chat completions and Responses APIs and Anthropic's messages API. A
 * request without a scripted reply gets an error.
 */
export async function scriptedModels(script: Script): Promise<ScriptedModels> {
  const requests: SeenRequest[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const format = FORMATS.get(request.url ?? '');
    if (format === undefined || request.method !== 'POST') {
      response.writeHead(404).end();
      return;
    }
    const seen = toSeen(format, await bodyOf(request), requests.length);
    requests.push(seen);
    const next = nextReply(script, seen);
    if ('problem' in next) refuse(response, SCRIPT_FAULT, next.problem);
    else respond(response, format, seen, next);
  };
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function respond(response: ServerResponse, format: Format, seen: SeenRequest, turn: ScriptedTurn): void {
  const { status, retryAfter, ending } = turn;
  if (status !== undefined) {
    if (retryAfter !== undefined) response.setHeader('retry-after', String(retryAfter));
    refuse(response, status, `scripted status ${status}`);
    return;
  }
  const reply = spoken(turn, seen.index, String(seen.body['model']));
  if (seen.body['stream'] !== true) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(format.whole(reply)));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const events = format.events(reply);
  // Leave out the last events, which mark the reply as complete.
  const sent = ending === undefined ? events : events.slice(0, -3);
  for (const event of sent) response.write(event);
  if (ending === undefined) response.end();
  else if (ending === 'break') response.socket?.end();
}

function refuse(response: ServerResponse, status: number, message: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ type: 'error', error: { type: 'scripted', message } }));
}

function toSeen(format: Format, body: SeenRequest['body'], index: number): SeenRequest {
  const tools = Array.isArray(body['tools']) ? (body['tools'] as OfferedTool[]) : [];
  return {
    format: format.name,
    index,
    body,
    tools: tools.map((tool) => tool.function?.name ?? tool.name ?? ''),
  };
}

interface OfferedTool {
  readonly name?: string;
  readonly function?: { readonly name: string };
}

async function bodyOf(request: IncomingMessage): Promise<SeenRequest['body']> {
  let text = '';
  for await (const chunk of request.setEncoding('utf8')) text += chunk as string;
  return JSON.parse(text) as SeenRequest['body'];
}
