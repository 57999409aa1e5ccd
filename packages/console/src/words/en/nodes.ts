/** Nodes: the servers that share the store. */
export const nodesWords = {
  nodes: {
    about:
      'The servers that share this store. Any of them takes any request; the calls of one that dies go to another.',
    none: 'No node is known.',
    alone:
      'There is one node: this server keeps its store in SQLite or in memory, which one process uses. To run several, start each with DATABASE_URL set to the same PostgreSQL database.',
    lonely: 'One node runs now. To add one, start another server with the same DATABASE_URL.',
    differs:
      'The nodes have different configurations, packs or hooks, so that they may decide differently about the same call. Compare the column Config, and start them alike.',
    node: 'Node',
    self: 'this one',
    beat: 'Last heartbeat',
    beatAge: '{seconds} s ago',
    calls: 'Open calls',
    room: 'Room',
    version: 'Version',
    config: 'Config',
    started: 'Started',
    tookOver: 'Took over',
    takeover:
      '{count} calls of node {writer} | {count} call of node {writer} | {count} calls of node {writer}',
  },
};
