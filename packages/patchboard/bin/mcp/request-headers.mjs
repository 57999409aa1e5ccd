/** The member of `params` that `Mcp-Name` repeats. */
const NAMED_BY = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

/** Returns the headers that repeat parts of the body of a modern request. */
export function modernHeaders({ method, params }, version) {
  const name = params[NAMED_BY[method]];
  return {
    'mcp-protocol-version': headerValue(version),
    'mcp-method': headerValue(String(method)),
    ...(typeof name === 'string' ? { 'mcp-name': headerValue(name) } : {}),
  };
}

/** Returns the properties with `x-mcp-header`, by the names under which a tool can be called. */
export function* paramHeadersOf(tools) {
  for (const tool of Array.isArray(tools) ? tools : []) {
    const found = [];
    collectParams(tool?.inputSchema, [], found);
    yield [tool?.name, found];
    const canonical = tool?._meta?.['patchboard/name'];
    if (typeof canonical === 'string') yield [canonical, found];
  }
}

function collectParams(schema, path, found) {
  for (const [key, inner] of Object.entries(schema?.properties ?? {})) {
    const header = inner?.['x-mcp-header'];
    if (typeof header === 'string' && /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(header))
      found.push({ path: [...path, key], header });
    collectParams(inner, [...path, key], found);
  }
}

/** Returns the `Mcp-Param` headers of a call whose tool declares these properties. */
export function paramHeaders(declared, args) {
  const headers = {};
  for (const { path, header } of declared ?? []) {
    const value = path.reduce((node, key) => (Object(node) === node ? node[key] : undefined), args);
    const isSafe =
      typeof value !== 'number' ||
      (Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)));
    if (['string', 'boolean', 'number'].includes(typeof value) && isSafe)
      headers[`mcp-param-${header.toLowerCase()}`] = headerValue(String(value));
  }
  return headers;
}

/** Returns the value if it is plain header text, otherwise its base64 form. */
function headerValue(text) {
  const isPlain = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}
