// SPDX-License-Identifier: Apache-2.0
// xterm.js without a screen as one of several terminals that are compared: the commands and the form of term_cells.c.
// usage: node xterm.cjs FOLDER-WITH-node_modules <commands
'use strict';
const fs = require('fs');
const path = require('path');
const modules = path.join(process.argv[2], 'node_modules', '@xterm');
const { Terminal } = require(path.join(modules, 'headless'));
const { Unicode11Addon } = require(path.join(modules, 'addon-unicode11'));
const { UnicodeGraphemesAddon } = require(path.join(modules, 'addon-unicode-graphemes'));

let term = null;
let out = [];

function start(cols, rows) {
	if (term) term.dispose();
	term = new Terminal({ cols, rows, allowProposedApi: true, scrollback: 5000, reflowCursorLine: true,
		logLevel: 'off' });
	term.loadAddon(new Unicode11Addon());
	term.unicode.activeVersion = '11';
}

function color(isDefault, isRgb, value) {
	if (isDefault) return '-';
	return isRgb ? '#' + value.toString(16).padStart(6, '0') : 'p' + value;
}

function style(cell) {
	const attributes = (cell.isBold() ? 'B' : '') + (cell.isDim() ? 'd' : '') + (cell.isItalic() ? 'i' : '') +
		(cell.isBlink() ? 'k' : '') + (cell.isInverse() ? 'r' : '') + (cell.isInvisible() ? 'h' : '') +
		(cell.isStrikethrough() ? 's' : '') + (cell.isOverline() ? 'o' : '') + (cell.isUnderline() ? 'u' : '');
	return color(cell.isFgDefault(), cell.isFgRGB(), cell.getFgColor()) + ',' +
		color(cell.isBgDefault(), cell.isBgRGB(), cell.getBgColor()) + ',' + attributes;
}

const cell = new Terminal({ allowProposedApi: true, logLevel: 'off' }).buffer.active.getNullCell();

function line(at, goesOn) {
	const row = term.buffer.active.getLine(at);
	let now = '-,-,';
	let fg = 0, bg = 0; // what it keeps a style in: looked at closely only when that changes
	let text = goesOn ? '1' : '0';
	for (let c = 0; c < term.cols; c++) {
		row.getCell(c, cell);
		if (cell.fg !== fg || cell.bg !== bg) {
			({ fg, bg } = cell);
			const look = style(cell);
			if (look !== now) text += '\x1d' + look + '\x1d';
			now = look;
		}
		text += cell.getWidth() === 0 ? '\x1c' : (cell.getChars() || ' ') + '\x1f';
	}
	return text + '\x1e';
}

function lines(from, to) {
	let text = '';
	for (let at = from; at < to; at++) {
		const next = term.buffer.active.getLine(at + 1);
		text += line(at, next ? next.isWrapped : false);
	}
	return text;
}

function picture() {
	const b = term.buffer.active;
	const isBehind = b.cursorX >= term.cols;
	return `${b.cursorY},${isBehind ? term.cols - 1 : b.cursorX},${isBehind ? 1 : 0},` +
		`${b.type === 'alternate' ? 1 : 0} ` + lines(b.baseY, b.baseY + term.rows);
}

function widths(version) {
	const terminal = new Terminal({ allowProposedApi: true, logLevel: 'off' });
	terminal.loadAddon(new Unicode11Addon());
	terminal.loadAddon(new UnicodeGraphemesAddon());
	const provider = terminal._core.unicodeService._providers[version];
	const all = Buffer.alloc(0x110000);
	for (let c = 0; c < 0x110000; c++) all[c] = 0x30 + provider.wcwidth(c);
	terminal.dispose();
	return all.toString('latin1');
}

function run(command) {
	const words = command.split(' ');
	switch (words[0]) {
	case 'N':
		isBroken = false;
		start(Number(words[1]), Number(words[2]));
		break;
	case 'F': // at once: its public write() takes a turn of the loop for each piece
		term._core.writeSync(Buffer.from(words[1], 'hex'));
		break;
	case 'R':
		term.resize(Number(words[1]), Number(words[2]));
		break;
	case 'P':
		out.push(picture());
		break;
	case 'H':
		out.push(`${term.buffer.active.baseY} ` + lines(0, term.buffer.active.baseY));
		break;
	case 'W':
		out.push(widths(words[1]));
		break;
	case '':
		break;
	default:
		throw new Error('what is ' + command);
	}
}

// It has errors of its own: what throws is told as the picture "!" until the next terminal.
let isBroken = false;
for (const command of fs.readFileSync(0, 'latin1').split('\n')) {
	if (!isBroken || command[0] === 'N') {
		try {
			run(command);
			continue;
		} catch (error) {
			isBroken = true;
			if (process.env.TERMINALS_VERBOSE) console.error(error.message);
		}
	}
	if (command === 'P' || command === 'H') out.push('!');
}
const all = Buffer.from(out.join('\n') + (out.length ? '\n' : ''));
for (let at = 0; at < all.length;) at += fs.writeSync(1, all, at);
