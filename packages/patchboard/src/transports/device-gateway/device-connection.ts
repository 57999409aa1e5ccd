import { DEVICE_CLOSE, rfc3339, type DeviceFrame, type GatewayFrame } from '@patchboard/wire';
import type { RawData, WebSocket } from 'ws';
import { attemptsOf, type Call } from '../../core/call/call.ts';
import type { InputRound } from '../../core/call/input.ts';
import type { Device, DeviceLink, DisconnectReason } from '../../core/devices/device.ts';
import { failure, messageOf, problemOf, storeFailure, type Failure } from '../../core/failures.ts';
import { parseRequestId, requestId } from '../../core/devices/request-id.ts';
import { traceparentOf } from '../../core/call/trace-context.ts';
import { decodeBinary, decodeFrame, type FrameFault, type RefusedFrame } from './decode-frame.ts';
import { FrameOrder } from './frame-order.ts';
import { FrameRate } from './frame-rate.ts';
import type { GatewayParts } from './gateway.ts';
import { acceptHello, deviceNameOf, plainDevice, type DevicePeer } from './hello.ts';
import { requestInput, responseFrame } from './inputs.ts';
import { rejectResult, report, type FrameOrigin } from './results.ts';
import { registerTools, registeredTools, unregisterTools } from './tools.ts';

/** A peer that has not completed the close handshake after this is disconnected. */
const CLOSE_TIMEOUT_MS = 1000;
/** Back-pressure: at this number of frames in progress, or at the bytes of one frame of maximum size, no more are read. */
const UNFINISHED_FRAMES = 256;

const LATE_MESSAGE = 'a message does not arrive, or too many arrive at once';

/** The frame that an error is reported for. */
interface FollowedFrame {
  readonly type: DeviceFrame['type'];
  readonly id?: string | null;
}

/** The WebSocket of one device: decodes its frames, sends it calls, and closes it when its credential ends. */
export class DeviceConnection implements DeviceLink {
  readonly #parts: GatewayParts;
  readonly #socket: WebSocket;
  readonly #peer: DevicePeer;
  readonly #rate: FrameRate;
  #device: Device | null = null;
  #lastSeen: number;
  #unfinished = 0;
  #unfinishedBytes = 0;
  /** Greetings and registrations run one after the other; results do not wait for them. */
  readonly #order: FrameOrder = new FrameOrder();
  #parting: DisconnectReason | null = null;
  /** The credential has ended: no frame counts any more, also not before the peer has completed the close handshake. */
  #isRevoked = false;
  #disarm: () => void = () => undefined;

  constructor(parts: GatewayParts, socket: WebSocket, peer: DevicePeer) {
    this.#parts = parts;
    this.#socket = socket;
    this.#peer = peer;
    this.#lastSeen = parts.clock.elapsed();
    this.#rate = new FrameRate(parts.clock, parts.limits.deviceFramesPerSecond);
    socket.on('message', (data, isBinary) => this.#take(data, isBinary));
    socket.on('pong', (data) => this.#ponged(data));
    socket.on('ping', (data) => this.#pong(data));
    socket.on('error', (error) => this.#parts.log.info('device.socket_error', { error: messageOf(error) }));
    socket.once('close', (code) => this.#closed(code));
    this.#beat();
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  request(call: Call): void {
    const traceparent = traceparentOf(call);
    const deadline = 'deadlineAt' in call.state ? call.state.deadlineAt : call.createdAt;
    const attempt = Math.max(1, attemptsOf(call));
    // The arguments are stored as JSON text and inserted without parsing.
    this.#write(
      `{"type":"tool_call_request","id":${JSON.stringify(requestId(call))},"name":${JSON.stringify(call.toolName)}` +
        `,"args":${call.argsJson},"deadline_at":"${rfc3339(deadline)}","attempt":${attempt}` +
        `${traceparent === null ? '' : `,"traceparent":${JSON.stringify(traceparent)}`}}`,
    );
  }

  cancel(id: string, reason: string): void {
    this.send({ type: 'cancel', id, reason });
  }

  inputGiven(call: Call, round: InputRound): void {
    const frame = responseFrame(call, round);
    if (frame !== null) this.send(frame);
  }

  replaced(): void {
    this.#parting = 'left';
    this.end(DEVICE_CLOSE.resumed, 'the device came back over another connection');
  }

  send(frame: GatewayFrame): void {
    this.#write(JSON.stringify(frame));
  }

  /** Starts the close handshake, and disconnects a peer that does not complete it. */
  end(code: number, reason: string): void {
    if (code === 1001) this.#parting = 'closing';
    if (code === DEVICE_CLOSE.credential) this.#isRevoked = true;
    if (!this.isOpen) return;
    this.#socket.close(code, reason);
    this.#disarm();
    this.#disarm = this.#parts.clock.after(CLOSE_TIMEOUT_MS, () => this.#socket.terminate());
    // Disconnects the device now, so that it gets no calls during the close handshake. Deferred, because the caller may be
    // in the middle of sending it calls.
    if (code !== 1001) queueMicrotask(() => this.#leave(this.#parting ?? 'lost'));
  }

  #write(text: string): void {
    if (this.#isReading()) this.#socket.send(text);
  }

  /** Counts earlier bytes, not the next frame: a single large request must not disconnect the device. */
  #isReading(): boolean {
    const { bufferedAmount } = this.#socket;
    if (!this.isOpen) return false;
    if (bufferedAmount <= this.#parts.limits.deviceBufferBytes) return true;
    this.#parts.log.warn('device.not_reading', { session: this.#device?.session, unread: bufferedAmount });
    this.end(1013, 'frames are not read as fast as they come');
    return false;
  }

  #take(data: RawData, isBinary: boolean): void {
    if (this.#isRevoked) return;
    this.#seen();
    this.#peer.unfinished.finished();
    const pauseMs = this.#rate.take();
    if (pauseMs > 0) this.#rest(pauseMs);
    // One buffer: the socket was opened with that type.
    const bytes = data as Buffer;
    const decoded = isBinary ? decodeBinary(bytes) : decodeFrame(bytes.toString('utf8'), this.#parts.json);
    if (!decoded.ok) {
      const work = this.#reject(decoded, bytes);
      if (work === null) this.#refuse(decoded.failure, decoded.id, decoded.fault);
      else this.#follow(work, { type: 'tool_result', id: decoded.id }, bytes.length);
      return;
    }
    const { frame } = decoded;
    const work = this.#handle(frame);
    if (work !== null) this.#follow(work, frame, bytes.length);
  }

  /** Ends the call of a malformed result. Returns null if the frame names no call. */
  #reject({ id, isResult, failure: refusal }: RefusedFrame, bytes: Buffer): Promise<void> | null {
    const request = id === null || !isResult ? null : parseRequestId(id);
    if (id === null || request === null) return null;
    const unreadable = { ...request, id, why: problemOf(refusal), text: bytes.toString('latin1') };
    return rejectResult(this.#parts.engine, this.#origin(), unreadable);
  }

  #origin(): FrameOrigin {
    const device = this.#device;
    const { principal: own } = this.#peer;
    const principal = device === null ? own : { ...own, clientId: device.clientId };
    return { principal, device, sender: this };
  }

  /** Tracks the work of a frame, and pauses reading while too much is in progress. */
  #follow(work: Promise<void>, frame: FollowedFrame, bytes: number): void {
    this.#unfinished += 1;
    this.#unfinishedBytes += bytes;
    if (this.#isFull()) this.#socket.pause();
    work
      .catch((error: unknown) => this.#failed(frame, error))
      .finally(() => {
        this.#unfinished -= 1;
        this.#unfinishedBytes -= bytes;
        if (!this.#isFull() && !this.#rate.isResting) this.#socket.resume();
      })
      .catch(() => undefined);
  }

  #isFull(): boolean {
    return this.#unfinished >= UNFINISHED_FRAMES || this.#unfinishedBytes >= this.#parts.limits.frameBytes;
  }

  /** Returns null if the frame is handled synchronously. */
  #handle(frame: DeviceFrame): Promise<void> | null {
    switch (frame.type) {
      case 'ping':
        this.send({ type: 'pong' });
        return null;
      case 'pong':
        return null;
      case 'tool_result':
      case 'tool_error':
      case 'progress':
        return report(this.#parts.engine, this.#origin(), frame);
      default:
        return this.#order.next(() => this.#control(frame));
    }
  }

  async #control(
    frame: Exclude<DeviceFrame, { type: 'ping' | 'pong' | 'tool_result' | 'tool_error' | 'progress' }>,
  ): Promise<void> {
    if (!this.isOpen) return;
    if (frame.type === 'hello') {
      const accepted = acceptHello(this.#parts, this.#peer, this.#device, frame, this);
      // Without other nodes the device is known before its next frame is handled.
      const connected = accepted instanceof Promise ? await accepted : accepted;
      if (connected === null) return;
      if ('code' in connected) this.#refuse(connected, null);
      else this.#device = connected;
      return;
    }
    // In order: after a reconnect, the tool that asks must be registered first.
    if (frame.type === 'input_request') {
      await requestInput(this.#parts.engine, this.#origin(), frame);
      return;
    }
    if (frame.type === 'connect') {
      this.#device ??= plainDevice(this.#parts, this.#peer, deviceNameOf(frame), this);
      this.send({ type: 'connected', v: 1, message: 'connected' });
      return;
    }
    this.#device ??= plainDevice(this.#parts, this.#peer, null, this);
    if (frame.type === 'register_tools')
      await registerTools(this.#parts.engine, this.#device, frame.tools, this);
    else if (frame.type === 'unregister_tools')
      await unregisterTools(this.#parts.engine, this.#device, frame.tools ?? null, this);
    else registeredTools(this.#parts.engine, this.#device, this);
  }

  #refuse({ code, message, reasons }: Failure, id: string | null, fault: FrameFault | null = null): void {
    const named = { ...(reasons === undefined ? {} : { reasons }), ...(id === null ? {} : { id }) };
    this.send({ type: 'error', code: fault ?? code, failure_code: code, message, ...named });
  }

  /** Reports an error for a frame that was not stored, so that the device can send it again. */
  #failed(frame: FollowedFrame, error: unknown): void {
    const { id = null } = frame;
    const ofStore = storeFailure(error);
    if (ofStore !== null) {
      this.#refuse(ofStore, id);
      return;
    }
    this.#parts.log.error('device.failed', { frame: frame.type, error: messageOf(error) });
    this.#refuse(failure('internal'), id);
  }

  /** Back-pressure: pauses reading, so that TCP slows the sender and no frame is lost. */
  #rest(ms: number): void {
    this.#socket.pause();
    this.#parts.wheel.after(ms, () => {
      this.#rate.isResting = false;
      this.#seen();
      if (!this.#isFull()) this.#socket.resume();
    });
  }

  /** Not left to the library, which would send pongs without limit to a peer that never reads. */
  #pong(data: Buffer): void {
    this.#seen();
    this.#peer.unfinished.control(data.length);
    const pauseMs = this.#rate.take();
    if (pauseMs > 0) this.#rest(pauseMs);
    if (this.#isReading()) this.#socket.pong(data);
  }

  #ponged(data: Buffer): void {
    this.#seen();
    this.#peer.unfinished.control(data.length);
  }

  #seen(): void {
    this.#lastSeen = this.#parts.clock.elapsed();
  }

  #beat(): void {
    const { limits, wheel, clock } = this.#parts;
    this.#disarm = wheel.after(limits.deviceHeartbeatMs, () => {
      if (clock.elapsed() - this.#lastSeen >= 2 * limits.deviceHeartbeatMs) {
        this.#socket.terminate();
        return;
      }
      // While reading is paused no message can be completed.
      if (!this.#socket.isPaused && !this.#peer.unfinished.check()) {
        this.#parts.log.info('device.socket_error', { error: LATE_MESSAGE });
        this.end(1013, LATE_MESSAGE);
        return;
      }
      if (this.isOpen) this.#socket.ping();
      this.#beat();
    });
  }

  #closed(code: number): void {
    this.#disarm();
    this.#peer.onClosed();
    const parting = this.#parting ?? (code === 1000 ? 'left' : 'lost');
    // Waits for a registration in progress, which may still create the device.
    const { running } = this.#order;
    if (running === null || this.#device !== null) this.#leave(parting);
    else running.then(() => this.#leave(parting)).catch(() => undefined);
  }

  #leave(parting: DisconnectReason): void {
    if (this.#device !== null) this.#parts.engine.devices.disconnect(this.#device, parting);
  }
}
