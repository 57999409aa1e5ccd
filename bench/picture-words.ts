import type { Durability } from './figure.ts';

/** Everything that the picture says, in one language. */
export interface PictureWords {
  readonly title: string;
  readonly description: string;
  readonly slower: string;
  readonly faster: string;
  readonly groups: Readonly<Record<string, string>>;
  readonly durability: Readonly<Record<Durability, string>>;
  /** Names of peers that are no proper names. */
  readonly peers: Readonly<Record<string, string>>;
}

export const ENGLISH: PictureWords = {
  title: 'Calls per second, Patchboard ÷ peer',
  description:
    'Bars of ratios on a logarithmic scale; the line on each bar is the range of single slices. Patchboard syncs each call to disk before it responds.',
  slower: 'slower than the peer',
  faster: 'faster than the peer',
  groups: {
    P1: 'Whole call over HTTP, 50 connections',
    P2: 'Whole call in one process, 128 at a time',
    P3: 'Call of a device, 100 devices',
    P4: 'MCP tools/call, 50 connections',
    P9: 'Whole call in one process, on PostgreSQL',
  },
  durability: {
    synced: 'peer syncs before it responds, as Patchboard does',
    every_second: 'peer syncs every second, and may lose the last one',
    none: 'peer keeps nothing',
  },
  peers: {},
};

export const CHINESE: PictureWords = {
  title: '每秒调用数：Patchboard ÷ 对比对象',
  description: '对数刻度上的比值；每条上的细线是各次测量的范围。Patchboard 在响应之前把每次调用同步到磁盘。',
  slower: '比对比对象慢',
  faster: '比对比对象快',
  groups: {
    P1: '经 HTTP 的完整调用，50 个连接',
    P2: '一个进程内的完整调用，同时 128 个',
    P3: '设备上的调用，100 个设备',
    P4: 'MCP tools/call，50 个连接',
    P9: '一个进程内的完整调用，使用 PostgreSQL',
  },
  durability: {
    synced: '对比对象与 Patchboard 一样，响应之前同步',
    every_second: '对比对象每秒同步一次，可能丢失最后一秒',
    none: '对比对象什么也不保存',
  },
  peers: {
    'bare Fastify route': '裸 Fastify 路由',
    'bare relay (Fastify and ws)': '裸转发（Fastify 和 ws）',
    'bare ws server: parse and reply': '裸 ws 服务器：解析并回复',
    "MCP SDK's own handler": 'MCP SDK 自带的处理程序',
    'Restate (own log, over HTTP)': 'Restate（自己的日志，经 HTTP）',
  },
};
