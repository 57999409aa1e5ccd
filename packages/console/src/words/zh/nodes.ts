import type { nodesWords as english } from '../en/nodes.ts';
import type { WordsOf } from '../words-of.ts';

export const nodesWords: WordsOf<typeof english> = {
  nodes: {
    about: '共用这个存储的服务器。任何一个都可以接收任何请求；某个节点失效时，它的调用由另一个节点接管。',
    none: '没有已知的节点。',
    alone:
      '只有一个节点：这个服务器的存储在 SQLite 或内存中，只供一个进程使用。要运行多个节点，请把每个节点的 DATABASE_URL 设为同一个 PostgreSQL 数据库，再逐个启动。',
    lonely: '现在只有一个节点在运行。要增加节点，请用相同的 DATABASE_URL 再启动一个服务器。',
    differs:
      '各节点的配置、工具包或钩子不同，对同一个调用可能作出不同的决定。请比较“配置”一列，并让它们以相同的设置启动。',
    node: '节点',
    self: '当前节点',
    beat: '上次心跳',
    beatAge: '{seconds} 秒前',
    calls: '未结束的调用',
    room: '空余',
    version: '版本',
    config: '配置',
    started: '启动',
    tookOver: '接管',
    takeover: '接管了节点 {writer} 的 {count} 个调用',
  },
};
