import { describe, expect, it } from 'vitest';
import { SharedRoom } from '../shared/http/shared-room.ts';
import { UnfinishedMessage } from './unfinished-message.ts';

/** With what the socket has read, which the test moves on. */
function aMessage(room = new SharedRoom(1_000_000), tenant = 'default') {
  const socket = { bytesRead: 500 };
  const message = new UnfinishedMessage({ room, tenant, bytesRead: () => socket.bytesRead });
  return { socket, message, room };
}

describe('an unfinished message', () => {
  it('is held until it is whole, or its connection ends', () => {
    const { socket, message, room } = aMessage();
    socket.bytesRead += 100_000;
    expect([message.look(), room.total]).toEqual([true, 100_000]);
    socket.bytesRead += 100_000;
    expect([message.look(), room.total]).toEqual([true, 200_000]);
    message.finished();
    expect([message.look(), room.total]).toEqual([true, 0]);
    socket.bytesRead += 50_000;
    message.look();
    message.letGo();
    message.letGo();
    expect(room.total).toBe(0);
  });

  it('is late after six looks, and not if others become whole in between', () => {
    const { socket, message } = aMessage();
    socket.bytesRead += 20_000;
    const looks = Array.from({ length: 7 }, () => message.look());
    expect(looks).toEqual([true, true, true, true, true, true, false]);
    message.finished();
    for (let round = 0; round < 20; round += 1) {
      socket.bytesRead += 20_000;
      expect(message.look()).toBe(true);
      message.finished();
    }
  });

  it('is not made of control frames, nor counted while it is small', () => {
    const { socket, message, room } = aMessage();
    for (let round = 0; round < 10_000; round += 1) {
      socket.bytesRead += 6 + 100;
      message.control(100);
    }
    socket.bytesRead += 16_384;
    expect([message.look(), room.total]).toEqual([true, 0]);
  });

  it('finds no room beyond what all of a tenant may take', () => {
    const room = new SharedRoom(100_000);
    const [one, two, other] = [aMessage(room, 'a'), aMessage(room, 'a'), aMessage(room, 'b')];
    one.socket.bytesRead += 50_000;
    two.socket.bytesRead += 50_000;
    other.socket.bytesRead += 50_000;
    expect([one.message.look(), two.message.look(), other.message.look()]).toEqual([true, false, true]);
    one.message.letGo();
    expect(two.message.look()).toBe(true);
  });
});
