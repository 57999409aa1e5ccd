import { once } from 'node:events';
import { WebSocket, type ClientOptions } from 'ws';

export interface Frame {
  readonly type: string;
  readonly [member: string]: unknown;
}

/** A plain WebSocket that sends only what a test sends. */
export interface BareDevice {
  readonly socket: WebSocket;
  send(frame: unknown): void;
  /** Resolves to the first unread frame of this type; rejects if the socket closes before. */
  next(type: string): Promise<Frame>;
  /** Registers tools and returns the server's reply. */
  register(...tools: readonly unknown[]): Promise<Frame>;
  /** Resolves to the close code and reason. */
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  close(code?: number): Promise<void>;
}

export async function aDevice(
  port: number,
  options: ClientOptions & { readonly path?: string } = {},
): Promise<BareDevice> {
  const { path = '/ws', ...rest } = options;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, rest);
  const device = listenTo(socket);
  await once(socket, 'open');
  return device;
}

function listenTo(socket: WebSocket): BareDevice {
  const unread: Frame[] = [];
  const waiting = new Set<{ type: string; take: (frame: Frame) => void; fail: (error: Error) => void }>();
  const closed = new Promise<{ code: number; reason: string }>((resolve) => {
    socket.once('close', (code, reason) => {
      const text = reason.toString();
      for (const { type, fail } of waiting)
        fail(new Error(`closed with ${code} ${text} before a frame ${type} came`));
      resolve({ code, reason: text });
    });
  });
  socket.on('error', () => undefined);
  socket.on('message', (data) => {
    const frame = JSON.parse((data as Buffer).toString()) as Frame;
    const waiter = [...waiting].find(({ type }) => type === frame.type);
    if (waiter === undefined) unread.push(frame);
    else {
      waiting.delete(waiter);
      waiter.take(frame);
    }
  });
  const next = async (type: string): Promise<Frame> => {
    const index = unread.findIndex((frame) => frame.type === type);
    if (index !== -1) return unread.splice(index, 1)[0]!;
    return await new Promise<Frame>((take, fail) => waiting.add({ type, take, fail }));
  };
  const send = (frame: unknown): void => socket.send(JSON.stringify(frame));
  return {
    socket,
    send,
    next,
    closed,
    register: async (...tools) => {
      send({ type: 'register_tools', tools });
      return await next('tools_registered');
    },
    close: async (code = 1000) => {
      socket.close(code);
      await closed;
    },
  };
}

/** As the seed writes them. */
export const DEVICE_INFO = {
  name: 'device_info',
  description: '获取设备信息',
  parameters: { type: 'object', properties: {}, required: [] },
};

export const CAMERA = {
  name: 'camera',
  description: '拍摄照片',
  parameters: {
    type: 'object',
    properties: { quality: { type: 'string', enum: ['low', 'medium', 'high'] } },
  },
};
