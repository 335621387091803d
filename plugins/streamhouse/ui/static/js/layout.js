// Where the nodes of a flow stand: dagre orders them, and every layer begins behind the one before it.
import { Graph, layout } from "../vendor/dagre.js";

export const WIDTH = 204;
const LINE = 17;
const ORDER = ["source", "ods", "dwd", "dws", "ads"];

export const height = (node) => (node.kind === "source" ? 52 : 45 + LINE * Math.max(1, node.steps.length));

/** {nodes: id -> {x, y, w, h}, edges: [{...edge, points}], bands: [{layer, x, w}], width, height}; pixels, x and y of corners. */
export function placed({ nodes, edges }) {
  const g = new Graph();
  g.setGraph({ rankdir: "LR", nodesep: 22, ranksep: 22, marginx: 16, marginy: 44 });
  g.setDefaultEdgeLabel(() => ({}));
  for (const node of nodes) g.setNode(node.id, { width: WIDTH, height: height(node) });
  for (const edge of edges) g.setEdge(edge.source, edge.target, { weight: edge.mode === "lookup" ? 1 : 3 });
  // Between two layers stands a node that is not drawn: behind all of the first, before all of the second.
  const layers = ORDER.filter((layer) => nodes.some((node) => node.layer === layer));
  layers.slice(1).forEach((layer, i) => {
    const wall = `wall ${layer}`;
    g.setNode(wall, { width: 1, height: 1 });
    for (const node of nodes) {
      if (node.layer === layers[i]) g.setEdge(node.id, wall, { weight: 0 });
      if (node.layer === layer) g.setEdge(wall, node.id, { weight: 0 });
    }
  });
  layout(g);
  const found = new Map(
    nodes.map((node) => {
      const { x, y, width, height: h } = g.node(node.id);
      return [node.id, { x: x - width / 2, y: y - h / 2, w: width, h }];
    }),
  );
  const top = Math.min(...[...found.values()].map((at) => at.y));
  for (const at of found.values()) at.y += 44 - top;
  const bands = layers.map((layer) => {
    const of = nodes.filter((node) => node.layer === layer).map((node) => found.get(node.id));
    const x = Math.min(...of.map((at) => at.x)) - 14;
    return { layer, x, w: Math.max(...of.map((at) => at.x + at.w)) + 14 - x };
  });
  return {
    nodes: found,
    edges: edges.map((edge) => ({ ...edge, path: curve(found.get(edge.source), found.get(edge.target), g.edge(edge.source, edge.target).points, 44 - top, bands) })),
    bands,
    width: Math.max(...[...found.values()].map((at) => at.x + at.w)) + 18,
    height: Math.max(...[...found.values()].map((at) => at.y + at.h)) + 18,
  };
}

/** A smooth line from the right side of one node to the left side of another; across a layer between them where dagre kept it free. */
function curve(from, to, points, dy, bands) {
  const start = [from.x + from.w, from.y + from.h / 2];
  const end = [to.x - 7, to.y + to.h / 2];
  const between = bands.filter((band) => band.x > start[0] && band.x + band.w < end[0]);
  const across = points.map(({ x, y }) => [x, y + dy]).filter(([x]) => between.some((band) => x > band.x && x < band.x + band.w));
  let path = `M${start}`;
  let [ax, ay] = start;
  for (const [bx, by] of [...across, end]) {
    const middle = (ax + bx) / 2;
    path += `C${middle},${ay} ${middle},${by} ${bx},${by}`;
    [ax, ay] = [bx, by];
  }
  return path;
}
