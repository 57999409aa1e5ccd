/** The member of `_meta` by which a request of the modern era (2026-07-28 and later) is recognised. */
export const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
/** Error code: the headers of a modern request do not match its body. */
export const HEADER_MISMATCH = -32020;

/** Returns undefined if the text is not JSON. */
export function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isRequest(message) {
  return typeof message?.method === 'string' && message.id !== undefined && message.id !== null;
}

/**
 * Returns the id of a request of which only the ends are known, if it is the first or second member or the last one;
 * otherwise null.
 */
export function idIn({ head, tail }) {
  const id = String.raw`("(?:[^"\\]|\\.){0,500}"|-?\d{1,15})`;
  const found =
    new RegExp(String.raw`^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*${id}\s*,`).exec(head) ??
    new RegExp(String.raw`,\s*"id"\s*:\s*${id}\s*\}\s*$`).exec(tail);
  return found === null ? null : (parsed(found[1]) ?? null);
}
