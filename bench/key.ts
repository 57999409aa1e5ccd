import { postJson, type Headers } from './http.ts';

/** The operator token of every server of the benchmark, which hold nothing worth protecting. */
export const OPERATOR_TOKEN = 'the-operator-token-of-the-benchmark';

export const AS_OPERATOR: Headers = bearer(OPERATOR_TOKEN);

/** Creates a key that may call tools and read calls, and returns the headers that carry it. It ends local mode. */
export async function createKey(url: string): Promise<Headers> {
  return await create(url, { kind: 'service', name: 'bench', scopes: ['tools:call', 'calls:read'] });
}

/** Creates a key for devices, and returns the headers that carry it. */
export async function createDeviceKey(url: string): Promise<Headers> {
  return await create(url, { kind: 'client', name: 'bench-devices' });
}

async function create(url: string, key: unknown): Promise<Headers> {
  const created = await postJson(`${url}/v1/keys`, key, AS_OPERATOR);
  return bearer((JSON.parse(created) as { readonly key: string }).key);
}

function bearer(secret: string): Headers {
  return { authorization: `Bearer ${secret}` };
}
