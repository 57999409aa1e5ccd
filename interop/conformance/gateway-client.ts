// The gateway as the client that the conformance suite judges: a board whose only upstream is the server of the scenario.
// The suite starts it with the URL as its last argument.
import process from 'node:process';
import { BoardError, createPatchboard, type Patchboard } from 'patchboard';

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly private_key_pem?: string;
  readonly signing_algorithm?: string;
}

const SAMPLES: Readonly<Record<string, unknown>> = { number: 1, integer: 1, boolean: true, string: 'x' };

const url = process.argv.at(-1) ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as Context;
const board = await createPatchboard({ upstreams: { referee: { url, ...(await authOf(context)) } } });
await board.upstreams.settled();
for (const [name, args] of callsOf(board)) await callOne(board, name, args);
await board.close();

/** The settings for a scenario with an authorization server. Its address is private, so an operator has to name it. */
async function authOf(given: Context): Promise<object> {
  const {
    client_id: clientId,
    client_secret: secret,
    private_key_pem: key,
    signing_algorithm: algorithm,
  } = given;
  if (clientId === undefined) return {};
  process.env['CONFORMANCE_SECRET'] = secret ?? key;
  const { issuer, tokenUrl } = await authorizationServer();
  const common = { client_id: clientId, token_url: tokenUrl };
  const auth =
    secret === undefined
      ? { private_key_jwt: { ...common, key_env: 'CONFORMANCE_SECRET', algorithm, audience: issuer } }
      : { client_credentials: { ...common, secret_env: 'CONFORMANCE_SECRET' } };
  return { auth };
}

async function authorizationServer(): Promise<{ readonly issuer: string; readonly tokenUrl: string }> {
  const { origin, pathname } = new URL(url);
  const resource = await json(`${origin}/.well-known/oauth-protected-resource${pathname}`);
  const [address] = resource['authorization_servers'] as string[];
  const server = await json(`${address}/.well-known/oauth-authorization-server`);
  return { issuer: String(server['issuer']), tokenUrl: String(server['token_endpoint']) };
}

async function json(address: string): Promise<Record<string, unknown>> {
  return (await (await fetch(address)).json()) as Record<string, unknown>;
}

/** The calls that the scenario names, or one of each tool. */
function callsOf(caller: Patchboard): readonly (readonly [string, unknown])[] {
  const offered = caller.tools().filter(({ source }) => source === 'mcp');
  if (context.toolCalls !== undefined)
    return context.toolCalls.map(({ name, arguments: args }) => [`referee.${name}`, withoutNull(args)]);
  return offered.map(({ name, inputSchema }) => {
    // This tool wants the schema of the other one back, as the client received it.
    const other = offered.find((one) => one.name !== name)?.inputSchema;
    return [name, name === 'referee.json_schema_echo' ? { schema: other } : sampleOf(inputSchema)];
  });
}

/** The default of each member, and a value for those that are required. */
function sampleOf(schema: unknown): Record<string, unknown> {
  const { required = [], properties = {} } = schema as {
    required?: string[];
    properties?: Record<string, { type?: string; default?: unknown }>;
  };
  const members = Object.entries(properties).flatMap(([key, member]) => {
    if (member.default !== undefined) return [[key, member.default]];
    return required.includes(key) ? [[key, SAMPLES[member.type ?? ''] ?? 'x']] : [];
  });
  return Object.fromEntries(members) as Record<string, unknown>;
}

/** The engine refuses null where the schema wants another type. */
function withoutNull(args: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
}

/** Accepts each input request. Whether a call succeeds is judged by the suite. */
async function callOne(caller: Patchboard, name: string, args: unknown): Promise<void> {
  try {
    const { state, error } = await caller.call(name, args, {
      onInputRequest: ({ schema }) => sampleOf(schema),
    });
    if (error !== undefined) console.error(`${name}: ${state}: ${error}`);
  } catch (error) {
    if (!(error instanceof BoardError)) throw error;
    console.error(`${name}: refused: ${error.message}`);
  }
}
