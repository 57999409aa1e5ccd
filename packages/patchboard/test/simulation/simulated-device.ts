import type { DeviceFrame, DeviceToolSpec, GatewayFrame } from '@patchboard/wire';
import { parseRequestId } from '../../src/core/devices/request-id.ts';
import { gotAnswer, QUESTION } from './actors/asking-tools.ts';
import type { Stream } from './random.ts';
import { noteDevices } from './connected-devices.ts';
import { resultsOf, type DeviceArgs, type Work } from './device-work.ts';
import { connectDevice } from './simulated-gateway.ts';
import type { SimulatedSocket } from './simulated-socket.ts';
import type { World } from './world.ts';

const DEVICE_CLIENT = 'phones';
const RETRY_MS = 300;

/** A device that connects to a node, runs calls, and comes back after its connection was lost. */
export class SimulatedDevice {
  readonly name: string;
  readonly #world: World;
  readonly #stream: Stream;
  readonly #tools: readonly DeviceToolSpec[];
  readonly #held: Map<string, Work> = new Map();
  #socket: SimulatedSocket | null = null;
  #token: string | null = null;
  #node = 0;
  /** Whether the device wants to be connected. */
  #isOn = false;
  #isOpening = false;

  constructor(world: World, name: string, tools: readonly DeviceToolSpec[]) {
    this.#world = world;
    this.name = name;
    this.#tools = tools;
    this.#stream = world.random.of('device', name);
  }

  /** Whether it is connected, or wants no connection, and works on nothing. */
  get isIdle(): boolean {
    return this.#held.size === 0 && this.#isOn === (this.#socket !== null);
  }

  connect(node: number): void {
    this.#node = node;
    this.#isOn = true;
    this.#open();
  }

  /**
   * Loses its connection, and returns to `node`. `noticedMs`: see `SimulatedSocket.cut`. `forgets`: the device restarts, and
   * knows nothing any more.
   */
  vanish(noticedMs: number | null, forgets: boolean, backMs: number, node: number): void {
    this.#node = node;
    this.#world.history.add(this.name, 'vanish', { forgets });
    this.#socket?.cut(noticedMs);
    this.#socket = null;
    if (forgets) {
      this.#token = null;
      this.#held.clear();
    }
    this.#isOn = true;
    this.#world.kernel.after(backMs, () => this.#open());
  }

  /** Closes its connection. What it works on is dropped. */
  leave(): void {
    this.#world.history.add(this.name, 'leave');
    this.#isOn = false;
    this.#socket?.closeFromPeer();
    this.#socket = null;
    this.#token = null;
    this.#held.clear();
  }

  unregister(tool: string): void {
    this.#send({ type: 'unregister_tools', tools: [tool] });
  }

  register(tool: string): void {
    this.#send({ type: 'register_tools', tools: this.#tools.filter(({ name }) => name === tool) });
  }

  #open(): void {
    if (this.#socket !== null || this.#isOpening || !this.#isOn) return;
    const { kernel, history } = this.#world;
    this.#isOpening = true;
    kernel.after(this.#delay(), () => {
      this.#isOpening = false;
      const { process, engine } = this.#world.node(this.#node);
      if (process === null || process.isDead || engine === null) {
        this.#turnToAnother();
        return this.#openLater();
      }
      history.add(this.name, 'connect', { process: process.name, resume: this.#token !== null });
      let own: SimulatedSocket | null = null;
      const peer = {
        received: (text: string) => this.#received(JSON.parse(text) as GatewayFrame),
        closed: (code: number) => {
          if (this.#socket !== own) return;
          history.add(this.name, 'closed', { code });
          this.#socket = null;
          this.#turnToAnother();
          this.#openLater();
        },
      };
      const device = { clientId: DEVICE_CLIENT, delay: () => this.#delay(), peer };
      own = connectDevice(this.#world, process, engine, device);
      this.#socket = own;
      this.#greet();
    });
  }

  /** As a load balancer does with a connection that a node ended. */
  #turnToAnother(): void {
    if (this.#world.nodes.length > 1) this.#node += this.#stream.integer(0, 1);
  }

  #openLater(): void {
    this.#world.kernel.after(this.#stream.delay(50, 1200), () => this.#open());
  }

  #greet(): void {
    const resume = this.#token === null ? {} : { resume: this.#token };
    this.#send({
      type: 'hello',
      client_id: DEVICE_CLIENT,
      name: this.name,
      holding: [...this.#held.keys()],
      ...resume,
    });
    this.#send({ type: 'register_tools', tools: this.#tools });
    for (const work of this.#held.values()) this.#resend(work);
  }

  #resend(work: Work): void {
    if (work.question !== null) this.#send(work.question);
    this.#report(work);
  }

  #received(frame: GatewayFrame): void {
    switch (frame.type) {
      case 'welcome':
        this.#token = frame.resume_token;
        this.#world.history.add(this.name, 'welcome', { resumed: frame.resumed });
        noteDevices(this.#world);
        return;
      case 'tool_call_request':
        return this.#begin(frame.id, frame.name, frame.args as DeviceArgs);
      case 'cancel':
        return this.#cancelled(frame.id);
      case 'result_acknowledged':
        return this.#acknowledged(frame);
      case 'input_response':
        return this.#answered(
          frame.id,
          (frame.content as { readonly answer: number } | undefined)?.answer ?? null,
        );
      case 'input_refused':
        return this.#unanswered(frame.id);
      case 'error':
        return this.#refused(frame);
      default:
    }
  }

  #begin(id: string, tool: string, args: DeviceArgs): void {
    const parsed = parseRequestId(id);
    if (parsed === null || this.#held.has(id)) return;
    const work: Work = { id, args, results: null, question: null, isCancelled: false };
    this.#held.set(id, work);
    const effect = { tool, callId: parsed.callId, attempt: Number.parseInt(parsed.attemptToken, 10), args };
    const { effects, kernel } = this.#world;
    effects.begin(this, effect);
    const isGone = (): boolean => (work.isCancelled && !args.isStubborn) || this.#held.get(id) !== work;
    kernel.after(args.ms / 2, () => {
      if (!isGone()) effects.act(this, effect);
    });
    kernel.after(args.ms, () => {
      if (isGone()) return;
      if (tool.endsWith('.asks')) return this.#ask(work);
      work.results = resultsOf(work);
      this.#report(work);
    });
  }

  #ask(work: Work): void {
    const { message, schema = {} } = QUESTION;
    work.question = { type: 'input_request', id: work.id, key: 'k', message, schema };
    this.#send(work.question);
  }

  /** The response may come again after a reconnect. */
  #answered(id: string, answer: number | null): void {
    const work = this.#held.get(id);
    if (work === undefined || work.question === null) return;
    work.question = null;
    const { callId = '' } = parseRequestId(id) ?? {};
    if (answer !== null) gotAnswer(this.#world, this.name, callId, answer);
    work.results = [{ type: 'tool_result', id, output: { n: work.args.n, answers: [answer] } }];
    this.#report(work);
  }

  #unanswered(id: string): void {
    const work = this.#held.get(id);
    if (work === undefined || work.question === null) return;
    work.question = null;
    work.results = [{ type: 'tool_error', id, error: 'no input', code: 'input_unavailable' }];
    this.#report(work);
  }

  #report({ id, results }: Work): void {
    for (const frame of results ?? []) {
      const { callId = '' } = parseRequestId(id) ?? {};
      const output = frame.type === 'tool_result' ? JSON.stringify(frame.output) : 'error';
      this.#world.history.add(this.name, 'result sent', { call: callId, request: id, output });
      this.#send(frame);
    }
  }

  #cancelled(id: string): void {
    const work = this.#held.get(id);
    if (work === undefined) return;
    work.isCancelled = true;
    if (!work.args.isStubborn) this.#held.delete(id);
  }

  #acknowledged(frame: Extract<GatewayFrame, { type: 'result_acknowledged' }>): void {
    const { id, accepted, duplicate = false, reason = null } = frame;
    const { callId = '' } = parseRequestId(id) ?? {};
    this.#world.history.add(this.name, 'result acknowledged', {
      call: callId,
      request: id,
      accepted,
      duplicate,
      ...(reason === null ? {} : { reason }),
    });
    this.#held.delete(id);
  }

  /** A result that was not stored is sent again. */
  #refused({ id, code, failure_code: failure }: Extract<GatewayFrame, { type: 'error' }>): void {
    this.#world.history.add(this.name, 'device refused', { code, failure });
    const work = id === undefined ? undefined : this.#held.get(id);
    if (work !== undefined) this.#world.kernel.after(RETRY_MS, () => this.#resend(work));
    else if (failure === 'storage_full' || failure === 'storage_unavailable')
      this.#world.kernel.after(RETRY_MS, () => this.#send({ type: 'register_tools', tools: this.#tools }));
  }

  #send(frame: DeviceFrame): void {
    this.#socket?.fromPeer(JSON.stringify(frame));
  }

  #delay(): number {
    return this.#stream.delay(0.05, this.#world.profile.networkDelayMs);
  }
}
