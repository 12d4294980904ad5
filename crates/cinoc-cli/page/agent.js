import { ink, pushColour } from "./colour.js";

/** Velocities below this share of the largest one get no arrow. */
const SLOW = 0.06;
/** Age in ticks of its youngest reading beyond which an agent rests. */
export const REST = 10;
/** Above this number of agents, arrows and trails would hide the field. */
export const CROWD = 130;

/** Radius of the dot of an agent in a picture of some width in pixels: the more agents, the smaller. */
export function dotRadius(width, agents) {
  return Math.max(2, (width / 52) * (10 / Math.max(agents, 10)) ** 0.3);
}

/** The push of an agent; undefined where an agent acts by its velocity only. */
export function pushOf({ moves, width, pushes, nodes }, action, agent) {
  return moves && width === nodes.length && pushes === width ? undefined : action[agent * width];
}

/** The velocity of an agent, or null. */
export function velocityOf({ moves, width, nodes }, action, agent) {
  if (!moves) return null;
  const end = (agent + 1) * width;
  return Array.from(action.subarray(end - nodes.length, end));
}

/** The largest push and the largest speed of the agents. */
export function reachOf(facts, action) {
  const reach = { push: 0, speed: 0 };
  for (let k = 0; action && k < action.length / facts.width; k++) {
    reach.push = Math.max(reach.push, Math.abs(pushOf(facts, action, k) ?? 0));
    reach.speed = Math.max(reach.speed, Math.hypot(...(velocityOf(facts, action, k) ?? [0])));
  }
  return reach;
}

/** A push as a share of the largest one of late, from −1 to 1; small ones are emphasised by a root. */
export function pushShare(push, reach) {
  return reach.push > 0 ? Math.sign(push) * Math.min(1, Math.abs(push) / reach.push) ** 0.5 : 0;
}

/** True if an agent has no new readings: its sensors are switched off, or what they read is lost. */
export function isBlind({ blind, ages }, agent) {
  return blind[agent] > 0 || ages[agent] > 0;
}

/** Draws an agent: a dot in the colour of its push, larger where it pushes hard; a failed one as a grey ring with a cross, a blind one with a bar. */
export function drawAgent(context, palette, [x, y], radius, { active, blind, share, velocity, reach, marked }) {
  const disc = (r, colour) => {
    context.fillStyle = colour;
    context.beginPath();
    context.arc(x, y, r, 0, 2 * Math.PI);
    context.fill();
  };
  const rim = Math.max(1, 0.22 * radius);
  if (!active) {
    disc(radius + 0.6 * rim, ink(palette.paper, 0.85));
    disc(radius, ink(palette.dead));
    disc(radius - rim, ink(palette.paper));
    context.strokeStyle = ink(palette.dead);
    context.lineWidth = rim;
    context.beginPath();
    const arm = 0.45 * radius;
    for (const side of [-1, 1]) {
      context.moveTo(x - arm, y - side * arm);
      context.lineTo(x + arm, y + side * arm);
    }
    context.stroke();
    return;
  }
  const size = radius * (share === undefined ? 0.85 : 0.85 + 0.35 * Math.abs(share));
  if (velocity) drawArrow(context, palette, [x, y], velocity, size, radius, reach);
  disc(size + 0.8 * rim, ink(palette.paper, 0.9));
  disc(size, marked ? ink(palette.window) : ink(palette.black));
  disc(size - rim, share === undefined ? ink(palette.black) : pushColour(palette, share));
  if (blind) drawBar(context, palette, [x, y], radius);
}

/** A bar across the dot of a blind agent. */
function drawBar(context, palette, [x, y], radius) {
  const [arm, thick] = [radius + 1, Math.max(1.4, 0.26 * radius)];
  context.lineCap = "butt";
  for (const [colour, width] of [[ink(palette.paper), thick + 1.2], [ink(palette.dead), thick]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.beginPath();
    context.moveTo(x - arm, y - arm);
    context.lineTo(x + arm, y + arm);
    context.stroke();
  }
}

/** An arrow along the velocity, longer where it is faster. */
function drawArrow(context, palette, [x, y], [vx, vy], from, radius, reach) {
  const speed = Math.hypot(vx, vy ?? 0);
  const share = reach.speed > 0 ? Math.min(1, speed / reach.speed) : 0;
  if (share < SLOW) return;
  // The second axis of the screen points down.
  const [dx, dy] = [vx / speed, -(vy ?? 0) / speed];
  const length = from + radius * (0.7 + 2.3 * share);
  const [tx, ty] = [x + dx * length, y + dy * length];
  const head = 0.75 * radius;
  for (const [colour, width] of [[ink(palette.paper, 0.85), 0.5 * radius + 2], [ink(palette.black), Math.max(1.2, 0.26 * radius)]]) {
    context.strokeStyle = colour;
    context.lineWidth = width;
    context.lineCap = "round";
    context.lineJoin = "round";
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(tx, ty);
    context.moveTo(tx - head * (dx + 0.7 * dy), ty - head * (dy - 0.7 * dx));
    context.lineTo(tx, ty);
    context.lineTo(tx - head * (dx - 0.7 * dy), ty - head * (dy + 0.7 * dx));
    context.stroke();
  }
}
