import type { InputKind, JsonSchema } from '@patchboard/wire';
import type { InputRequest, InputResponse, InputRound } from '../../core/call/input.ts';
import { kindOf, type SamplingParams } from '../../core/call/input-kinds.ts';

/** A request of the server inside a result: `elicitation/create`, `sampling/createMessage` or `roots/list`. */
export interface InputRequestJson {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** The capability that a client must declare to get requests of that kind. */
export const CAPABILITY_OF: Readonly<Record<InputKind, Readonly<Record<string, unknown>>>> = {
  form: { elicitation: { form: {} } },
  url: { elicitation: { url: {} } },
  sampling: { sampling: {} },
  roots: { roots: {} },
};

/** The schema of a form that has none. */
const ANY_FORM = { type: 'object', properties: {} };

/** `elicitationId` names a link that the user visits. */
export function requestJson(request: InputRequest | InputRound, elicitationId: string): InputRequestJson {
  const { message, url, sampling } = request;
  switch (kindOf(request)) {
    case 'form':
      return {
        method: 'elicitation/create',
        params: { mode: 'form', message, requestedSchema: request.schema ?? ANY_FORM },
      };
    case 'url':
      return urlRequest(elicitationId, message, url ?? '');
    case 'sampling':
      return { method: 'sampling/createMessage', params: { ...sampling } };
    case 'roots':
      return { method: 'roots/list', params: {} };
  }
}

export function urlRequest(elicitationId: string, message: string, url: string): InputRequestJson {
  return { method: 'elicitation/create', params: { mode: 'url', elicitationId, message, url } };
}

/**
 * Reads a request that a server makes; null if its method is unknown. `name` is put before the message, so that a user sees
 * which server asks.
 */
export function readInputRequest({ method, params }: InputRequestJson, name: string): InputRequest | null {
  switch (method) {
    case 'elicitation/create': {
      const { message, mode, url, requestedSchema: schema } = params;
      const shown = { message: messageFrom(name, message) };
      if (mode === 'url') return { ...shown, url: typeof url === 'string' ? url : '' };
      return schema === undefined ? shown : { ...shown, schema: schema as JsonSchema };
    }
    case 'sampling/createMessage':
      return {
        message: messageFrom(name, 'requests a message of your language model'),
        sampling: params as unknown as SamplingParams,
      };
    case 'roots/list':
      return { message: messageFrom(name, 'requests your roots'), roots: true };
    default:
      return null;
  }
}

/** Below the limit of a message. */
const MESSAGE_CHARACTERS = 3900;

function messageFrom(name: string, message: unknown): string {
  const text = typeof message === 'string' ? message : '';
  const shown = text.length <= MESSAGE_CHARACTERS ? text : `${text.slice(0, MESSAGE_CHARACTERS)}…`;
  return `${name}: ${shown}`;
}

/** The response of the caller as a client sends it: the result of the method. */
export function responseJson(kind: InputKind, { action, content }: InputResponse): unknown {
  if (kind === 'sampling' || kind === 'roots') return content;
  return action === 'accept' && content !== null ? { action, content } : { action };
}
