import type { InputKind } from '@patchboard/wire';
import type { InputRequest, InputRound } from '../../core/call/input.ts';
import { kindOf } from '../../core/call/input-kinds.ts';

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
