/** A failed request. `outcome` says whether it may have run. */
export class RequestError extends Error {
  constructor(code, outcome, message) {
    super(message);
    this.data = { code, outcome };
  }
}

export function unreachable(message) {
  return new RequestError('server_unreachable', 'not_started', message);
}

export function lostConnection(url, error) {
  return new RequestError(
    'connection_lost',
    'unknown',
    `the connection to ${url} ended before the response (${reasonOf(error)}). The request may have run: ` +
      'look for it with patchboard calls ls before you repeat it',
  );
}

/** Returns the reason that `fetch` hides in the cause of its error. */
export function reasonOf(error) {
  return error?.cause?.code ?? error?.code ?? error?.cause?.message ?? error?.message ?? String(error);
}

/** Returns whether the request failed before there was a connection, so that nothing was sent. */
export function hadNoConnection(error) {
  return NO_CONNECTION.has(reasonOf(error));
}

const NO_CONNECTION = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  // Of fetch, for ports of other protocols.
  'bad port',
]);

/** Returns the JSON-RPC error for a response that is none, or that has no id because the request was not read. */
export function refusalOf({ status, url }, message) {
  const given = message?.error;
  const detail = given?.message ?? message?.detail ?? message?.title ?? 'the body is not a JSON-RPC response';
  const advice =
    status === 401
      ? '; set PATCHBOARD_KEY in the configuration of this MCP client to the key of an agent'
      : '';
  const hint =
    status === 404 && given === undefined
      ? `; ${url ?? 'the server'} is not the /mcp of a Patchboard server`
      : '';
  return {
    code: given?.code ?? -32603,
    message: `${detail}${advice}${hint}`,
    data: given?.data ?? { status },
  };
}
