import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startByteProxy } from '../../test/services/byte-proxy.ts';
import { makeCertificates } from '../../test/services/certificates.ts';
import { startNats, type NatsService } from '../../test/services/nats.ts';
import { waitFor } from '../../test/support/wait-for.ts';
import type { Log } from '../core/ports.ts';
import { SILENT_LOG } from '../runtime/silent-log.ts';
import { describeBus } from './bus.contract.ts';
import { NatsBus } from './nats-bus.ts';
import { natsOptions, type NatsOptions } from './nats-options.ts';

describeBus('the bus over NATS', async () => {
  const server = await startNats();
  const options = natsOptions(server.url);
  return {
    join: (clusterId, writer, log) => new NatsBus({ options, clusterId, writer, log }),
    sendText: async (clusterId, text) => {
      const connection = await connect({ servers: server.url });
      connection.publish(`pb.${clusterId}.all`, text);
      await connection.drain();
    },
    stop: () => server.kill(),
    start: () => server.start(),
    close: () => server.close(),
  };
});

describe('a bus over NATS', () => {
  const clusterId = '5f0c6c1e-6f5e-4c43-9a53-0d6b3f7c0a13';

  async function aServer(...config: string[]): Promise<NatsService> {
    const server = await startNats(config);
    onTestFinished(() => server.close());
    return server;
  }

  function aBus(options: NatsOptions, writer: number, log: Log = SILENT_LOG): NatsBus {
    const bus = new NatsBus({ options, clusterId, writer, log });
    onTestFinished(() => bus.close());
    return bus;
  }

  /** Resolves when a notification has passed between two nodes that connect with these options. */
  async function expectDelivery(options: NatsOptions): Promise<void> {
    const [a, b] = [aBus(options, 1), aBus(options, 2)];
    const kinds: string[] = [];
    b.listen(({ kind }) => void kinds.push(kind));
    await waitFor(() => expect([a.isConnected, b.isConnected]).toEqual([true, true]));
    a.send('all', { kind: 'grown' });
    await waitFor(() => expect(kinds).toEqual(['grown']));
  }

  function warningLog(): { readonly log: Log; readonly warnings: string[] } {
    const warnings: string[] = [];
    const warn: Log['warn'] = (event, fields = {}) => void warnings.push(event + JSON.stringify(fields));
    return { log: { ...SILENT_LOG, warn }, warnings };
  }

  it('signs in with user and password, or with a token', async () => {
    const withUser = await aServer('authorization { user: ann, password: "p@ss" }');
    await expectDelivery(natsOptions(`nats://ann:p%40ss@127.0.0.1:${withUser.port}`));
    const withToken = await aServer('authorization { token: "s3cr3t" }');
    await expectDelivery(natsOptions(`nats://s3cr3t@127.0.0.1:${withToken.port}`));
  });

  it('reports a wrong password once, without it, and goes on trying', async () => {
    const server = await aServer('authorization { user: ann, password: "p@ss" }');
    const { log, warnings } = warningLog();
    const bus = aBus(natsOptions(`nats://ann:guess@127.0.0.1:${server.port}`), 1, log);
    bus.send('all', { kind: 'grown' });
    await waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toMatch(/^bus\.disconnected.*authorization violation/i);
    expect(warnings[0]).not.toContain('guess');
    await server.kill();
    await server.start();
    expect([bus.isConnected, warnings.length]).toEqual([false, 1]);
  });

  it('verifies the certificate of the server, and shows its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'patchboard-nats-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const { ca, unknownCa, server: own, client } = makeCertificates(folder);
    const files = `cert_file: "${own.certificate}", key_file: "${own.key}", ca_file: "${ca}", verify: true`;
    const { port } = await aServer(`tls { ${files} }`);
    const [pem, cert, key] = [ca, client.certificate, client.key].map((file) => readFileSync(file, 'utf8'));
    await expectDelivery(natsOptions(`tls://localhost:${port}`, { ca: pem!, cert: cert!, key: key! }));
    const { log, warnings } = warningLog();
    const other = { ca: readFileSync(unknownCa, 'utf8'), cert: cert!, key: key! };
    aBus(natsOptions(`tls://localhost:${port}`, other), 3, log);
    await waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toMatch(/^bus\.disconnected.*certificate/);
  });

  it('refuses a server without TLS if TLS is required', async () => {
    const { port } = await aServer();
    const { log, warnings } = warningLog();
    const bus = aBus(natsOptions(`tls://127.0.0.1:${port}`), 1, log);
    await waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toMatch(/does not support 'tls'/);
    expect(bus.isConnected).toBe(false);
  });

  it('is not connected, and says so, if the user may not use the subjects', async () => {
    const permissions = 'permissions: { publish: "pb.>", subscribe: "other.>" }';
    const { port } = await aServer(
      `authorization { users: [{ user: ann, password: pass, ${permissions} }] }`,
    );
    const { log, warnings } = warningLog();
    const bus = aBus(natsOptions(`nats://ann:pass@127.0.0.1:${port}`), 1, log);
    await waitFor(() => expect(warnings).toHaveLength(1));
    expect(warnings[0]).toMatch(/^bus\.refused.*Permissions Violation/);
    expect(bus.isConnected).toBe(false);
  });

  it('finds a link that is silent without being closed, says so once, and connects again', async () => {
    const server = await aServer();
    const proxy = await startByteProxy(server.port);
    onTestFinished(() => proxy.close());
    const { log, warnings } = warningLog();
    const bus = aBus(natsOptions(`nats://127.0.0.1:${proxy.port}`), 1, log);
    const direct = aBus(natsOptions(server.url), 2);
    const kinds: string[] = [];
    bus.listen(({ kind }) => void kinds.push(kind));
    await waitFor(() => expect([bus.isConnected, direct.isConnected]).toEqual([true, true]));
    proxy.freeze();
    await waitFor(() => expect(bus.isConnected).toBe(false));
    expect(warnings).toEqual([expect.stringMatching(/^bus\.disconnected/)]);
    proxy.pass();
    await waitFor(() => expect(bus.isConnected).toBe(true));
    direct.send('all', { kind: 'grown' });
    await waitFor(() => expect(kinds).toEqual(['grown']));
  });
});
