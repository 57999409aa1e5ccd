import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { aPlatform, type TestPlatform } from '../guard/support/a-platform.ts';
import { callId } from './support/agent.ts';
import { waitFor } from '../support/wait-for.ts';
import { aDevice, DEVICE_INFO, type BareDevice, type Frame } from './support/bare-device.ts';

interface AsyncApi {
  readonly asyncapi: string;
  readonly channels: {
    readonly device: { readonly address: string; readonly messages: Record<string, { $ref: string }> };
  };
  readonly operations: Record<string, { readonly messages: { $ref: string }[] }>;
  readonly components: {
    readonly messages: Record<string, { readonly name: string; readonly payload: object }>;
    readonly schemas: Record<string, object>;
  };
}

let server: TestPlatform;
let document: AsyncApi;

beforeAll(async () => {
  server = await aPlatform();
  document = (await server.ask({ method: 'GET', path: '/asyncapi.json' })).json as AsyncApi;
});
afterAll(async () => {
  await server.close();
});

/** The validator of a message as a reader of the document would make it. */
function validatorOf(name: string): ValidateFunction {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', components: document.components });
  return ajv.compile({ $ref: `document#/components/messages/${name}/payload` });
}

function find(pointer: string): unknown {
  return pointer
    .slice(2)
    .split('/')
    .reduce<unknown>((value, part) => (value as Record<string, unknown>)?.[part], document);
}

function pointersIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === '$ref' && typeof inner === 'string' ? [inner] : pointersIn(inner),
  );
}

describe('/asyncapi.json', () => {
  it('is AsyncAPI 3 whose references all lead somewhere', () => {
    expect(document.asyncapi).toBe('3.0.0');
    expect(document.channels.device.address).toBe('/ws');
    const pointers = pointersIn(document);
    expect(pointers.length).toBeGreaterThan(30);
    for (const pointer of pointers) expect(find(pointer), pointer).toBeDefined();
  });

  it('describes every frame that the server sends', async () => {
    const device: BareDevice = await aDevice(server.port);
    const frames: Frame[] = [];
    device.socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString()) as Frame));
    device.send({ type: 'hello', client_id: 'phones' });
    await device.register({ ...DEVICE_INFO, timeout_ms: 300 }, { name: 'no spaces', parameters: {} });
    const id = await callId(server, 'device_info');
    const request = await device.next('tool_call_request');
    const question = { type: 'input_request', id: request['id'], key: 'a', message: 'Which one?' };
    expect(validatorOf('device.input_request')(question)).toBe(true);
    device.send({ ...question, schema: { type: 'nonsense' } });
    await device.next('input_refused');
    device.send(question);
    const path = `/v1/tool_calls/${id}/input`;
    await waitFor(async () => {
      const given = await server.ask({ method: 'POST', path, body: { id: 'in_1', content: {} } });
      expect(given.status).toBe(200);
    });
    await device.next('input_response');
    await device.next('cancel');
    device.send({ type: 'tool_result', id: request['id'], output: 1 });
    device.send({ type: 'connect' });
    device.send({ type: 'get_registered_tools' });
    device.send({ type: 'unregister_tools' });
    device.send({ type: 'ping' });
    device.send({ type: 'dance' });
    for (const type of [
      'connected',
      'result_acknowledged',
      'registered_tools',
      'tools_unregistered',
      'pong',
      'error',
    ]) {
      await device.next(type);
    }
    expect(id).toMatch(/^tc_/);
    const described = document.operations['toDevice']!.messages.map(({ $ref }) =>
      $ref.split('/server.').at(-1),
    );
    expect(new Set(frames.map(({ type }) => type))).toEqual(new Set(described));
    for (const frame of frames) {
      const validate = validatorOf(`server.${frame.type}`);
      expect(validate(frame), JSON.stringify([frame, validate.errors])).toBe(true);
    }
    await device.close();
  });

  it('says of the tools in register_tools what the server says', () => {
    const validate = validatorOf('device.register_tools');
    expect(validate({ type: 'register_tools', tools: [DEVICE_INFO] })).toBe(true);
    expect(validate({ type: 'register_tools', tools: [{ name: 'bare' }] })).toBe(false);
  });
});
