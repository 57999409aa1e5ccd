import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { WebSocketServer, type WebSocket } from 'ws';
import type { Engine } from '../../core/engine.ts';
import { failure, type Failure } from '../../core/failures.ts';
import type { JsonLimits } from '../../core/json/json-scanner.ts';
import type { Limits } from '../../core/limits.ts';
import type { Clock, Log } from '../../core/ports.ts';
import type { Principal } from '../../core/access/principal.ts';
import { Counters } from '../../core/counters.ts';
import { TimerWheel } from '../../core/timer-wheel.ts';
import { DEVICE_CLOSE, reason } from '@patchboard/wire';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { DeviceConnection } from './device-connection.ts';
import { UnfinishedMessage } from './unfinished-message.ts';

/** Dependencies of a connection. */
export interface GatewayParts {
  readonly engine: Engine;
  readonly clock: Clock;
  readonly log: Log;
  readonly limits: Readonly<Limits>;
  readonly json: JsonLimits;
  readonly wheel: TimerWheel;
}

/** Mounted in another server, the socket may be a stream without a byte counter. */
function bytesReadOf(socket: Duplex): number {
  return socket instanceof Socket ? socket.bytesRead : 0;
}

const LOOPBACK = /^(?:127\.|::1$|::ffff:127\.)/;

/** Upgrades requests to WebSockets of devices. */
export class DeviceGateway {
  readonly #context: HttpContext;
  readonly #parts: GatewayParts;
  readonly #server: WebSocketServer;
  readonly #tenants: Counters = new Counters();
  readonly #addresses: Counters = new Counters();

  constructor(context: HttpContext) {
    const { engine, clock, log } = context;
    const { limits } = engine;
    this.#context = context;
    this.#parts = {
      engine,
      clock,
      log,
      limits,
      json: { depth: context.limits.jsonDepth, values: context.limits.jsonValues },
      wheel: new TimerWheel(clock),
    };
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload: limits.frameBytes,
      // Compression saves little for small frames and costs memory per device.
      perMessageDeflate: false,
      clientTracking: false,
      // The connection sends pongs itself, and only to a peer that reads.
      autoPong: false,
    });
  }

  /** Upgrades the request. All checks happen before the upgrade, so that a refusal is an HTTP response. */
  admit(request: FastifyRequest, reply: FastifyReply): void {
    const principal = principalOf(request);
    const refused = this.#refusal(principal, request.ip);
    if (refused !== null) {
      sendProblem(reply, refused);
      return;
    }
    const upgrade = this.#context.upgrades.take(request.raw, reply.raw);
    if (upgrade === null) {
      reply.header('upgrade', 'websocket');
      sendProblem(reply, failure('body_invalid', reason('upgrade_needed')));
      return;
    }
    reply.hijack();
    request.counter?.count(101);
    const { ip } = request;
    const { budget } = this.#context.arrivingBodies;
    const unfinished = new UnfinishedMessage({
      budget,
      tenant: principal.tenant,
      bytesRead: () => bytesReadOf(upgrade.socket),
    });
    this.#server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => {
      this.#connect(socket, principal, { address: ip, unfinished });
    });
  }

  /** Takes only principal and address of the request: whatever it captures lives as long as the socket. */
  #connect(
    socket: WebSocket,
    principal: Principal,
    { address, unfinished }: { address: string; unfinished: UnfinishedMessage },
  ): void {
    const leaves = [this.#tenants.enter(principal.tenant), this.#addresses.enter(address)];
    const connection: DeviceConnection = new DeviceConnection(this.#parts, socket, {
      principal,
      unfinished,
      onClosed: () => {
        unfinished.release();
        for (const leave of leaves) leave();
        removeStream();
      },
    });
    const removeStream = this.#context.openStreams.add(() => this.#end(connection), principal);
  }

  #refusal({ tenant }: Principal, address: string): Failure | null {
    const { devicesPerTenant, devicesPerAddress } = this.#parts.limits;
    if (this.#context.openStreams.isClosing) return failure('overloaded', reason('server_shutting_down'));
    if (this.#tenants.of(tenant) >= devicesPerTenant)
      return failure('overloaded', reason('devices_of_tenant', { count: devicesPerTenant }));
    if (!LOOPBACK.test(address) && this.#addresses.of(address) >= devicesPerAddress)
      return failure('overloaded', reason('devices_of_address', { count: devicesPerAddress }));
    return null;
  }

  #end(connection: DeviceConnection): void {
    if (this.#context.openStreams.isClosing) connection.end(1001, 'the server is shutting down');
    else connection.end(DEVICE_CLOSE.credential, 'the credential is no longer valid');
  }
}

const gateways: WeakMap<HttpContext, DeviceGateway> = new WeakMap();

/** Returns the gateway of the server, created for its first device. */
export function gatewayOf(context: HttpContext): DeviceGateway {
  const gateway = gateways.get(context) ?? new DeviceGateway(context);
  gateways.set(context, gateway);
  return gateway;
}
