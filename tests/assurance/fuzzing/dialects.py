"""How models write a call of a tool, after the chat templates that their makers publish, and VERA's forms.

Each dialect is a function of a tool's name and its arguments. A model that knows its own dialect best falls
back into it whatever the prompt asks for, so these are what the parser of turns meets.
"""

import json
from collections.abc import Callable
from typing import Any

from vera.protocol import Action, Turn, json_schema, text, tools

Arguments = dict[str, Any]
Dialect = Callable[[str, Arguments], str]

CALLS: tuple[tuple[str, Arguments], ...] = (
    ("shell", {"cmd": "grep -n 'written offer' /input/GPL-3.txt | head -5"}),
    ("search", {"query": "how many years must a written offer be valid"}),
    ("read", {"path": "terms.txt", "first": 1, "last": 40}),
    ("note", {"text": "The offer is valid for three years [ev_0001:3]."}),
    ("submit", {"path": "report.md"}),
    ("final", {"answer": "Three years [ev_0001:3]."}),
    ("fetch", {"url": "https://www.gnu.org/licenses/gpl-3.0.txt"}),
)


def _hermes(tool: str, args: Arguments) -> str:
    return f"<tool_call>\n{json.dumps({'name': tool, 'arguments': args})}\n</tool_call>"


def _qwen_thinking(tool: str, args: Arguments) -> str:
    return f"<think>\nThe user wants {tool}.\n</think>\n\n{_hermes(tool, args)}<|im_end|>"


def _qwen_coder(tool: str, args: Arguments) -> str:
    given = "".join(f"<parameter={name}>\n{value}\n</parameter>\n" for name, value in args.items())
    return f"<tool_call>\n<function={tool}>\n{given}</function>\n</tool_call>"


def _llama(tool: str, args: Arguments) -> str:
    return f"<|python_tag|>{json.dumps({'name': tool, 'parameters': args})}<|eom_id|>"


def _llama_header(tool: str, args: Arguments) -> str:
    call = json.dumps({"type": "function", "name": tool, "parameters": args})
    return f"<|start_header_id|>assistant<|end_header_id|>\n\n{call}<|eot_id|>"


def _llama_function(tool: str, args: Arguments) -> str:
    return f"<function={tool}>{json.dumps(args)}</function>"


def _pythonic(tool: str, args: Arguments) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in args.items())
    return f"[{tool}({given})]"


def _mistral(tool: str, args: Arguments) -> str:
    return f"[TOOL_CALLS][{json.dumps({'name': tool, 'arguments': args, 'id': 'a1b2c3d4e'})}]"


def _mistral_new(tool: str, args: Arguments) -> str:
    return f"[THINK]I need {tool}.[/THINK][TOOL_CALLS]{tool}[ARGS]{json.dumps(args)}"


def _deepseek(tool: str, args: Arguments) -> str:
    call = f"function<｜tool▁sep｜>{tool}\n```json\n{json.dumps(args)}\n```"
    return (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{call}<｜tool▁call▁end｜>"
        "<｜tool▁calls▁end｜><｜end▁of▁sentence｜>"
    )


def _deepseek_thinking(tool: str, args: Arguments) -> str:
    return (
        f"Okay, so I need to use {tool}.\n</think>\n\n<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>"
        f"{tool}<｜tool▁sep｜>{json.dumps(args)}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    )


def _gemma(tool: str, args: Arguments) -> str:
    given = ", ".join(f"{name}={value!r}" for name, value in args.items())
    return f"<start_of_turn>model\n```tool_code\nprint({tool}({given}))\n```<end_of_turn>"


def _gemma_function(tool: str, args: Arguments) -> str:
    given = ",".join(f"{name}:<escape>{value}<escape>" for name, value in args.items())
    return f"<start_function_call>call:{tool}{{{given}}}<end_function_call>"


def _phi(tool: str, args: Arguments) -> str:
    return f"<|tool_call|>[{json.dumps({'name': tool, 'arguments': args})}]<|/tool_call|><|end|>"


def _phi_functools(tool: str, args: Arguments) -> str:
    return f"functools[{json.dumps({'name': tool, 'arguments': args})}]"


def _granite(tool: str, args: Arguments) -> str:
    return (
        "<|start_of_role|>assistant<|end_of_role|><think>Look.</think><response></response>"
        f"<|tool_call|>[{json.dumps({'name': tool, 'arguments': args})}]<|end_of_text|>"
    )


def _command_r(tool: str, args: Arguments) -> str:
    call = json.dumps([{"tool_name": tool, "parameters": args}], indent=4)
    return f"Plan: I will look.\nAction: ```json\n{call}\n```"


def _command_a(tool: str, args: Arguments) -> str:
    call = json.dumps([{"tool_call_id": "0", "tool_name": tool, "parameters": args}])
    return f"<|START_THINKING|>I will look.<|END_THINKING|><|START_ACTION|>{call}<|END_ACTION|>"


def _harmony(tool: str, args: Arguments) -> str:
    return (
        f"<|channel|>analysis<|message|>We need {tool}.<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.{tool} <|constrain|>json<|message|>{json.dumps(args)}<|call|>"
    )


def _harmony_final(tool: str, args: Arguments) -> str:
    return f"<|start|>assistant<|channel|>final<|message|>{next(iter(args.values()))}<|return|>"


def _glm(tool: str, args: Arguments) -> str:
    given = "".join(
        f"<arg_key>{name}</arg_key>\n<arg_value>{value}</arg_value>\n" for name, value in args.items()
    )
    return f"<think>Look.</think>\n<tool_call>{tool}\n{given}</tool_call>"


def _kimi(tool: str, args: Arguments) -> str:
    return (
        f"<|tool_calls_section_begin|><|tool_call_begin|>functions.{tool}:0<|tool_call_argument_begin|>"
        f"{json.dumps(args)}<|tool_call_end|><|tool_calls_section_end|>"
    )


def _invoke(tool: str, args: Arguments) -> str:
    given = "".join(f'<parameter name="{name}">{value}</parameter>\n' for name, value in args.items())
    return f'<minimax:tool_call>\n<invoke name="{tool}">\n{given}</invoke>\n</minimax:tool_call>'


def _internlm(tool: str, args: Arguments) -> str:
    call = json.dumps({"name": tool, "parameters": args})
    return f"I will look.<|action_start|><|plugin|>\n{call}<|action_end|>"


def _nemotron(tool: str, args: Arguments) -> str:
    return f"<TOOLCALL>[{json.dumps({'name': tool, 'arguments': args})}]</TOOLCALL>"


def _react(tool: str, args: Arguments) -> str:
    return (
        f"Thought: I should use {tool}.\nAction: {tool}\nAction Input: {json.dumps(args)}\n"
        "Observation: The file says three years.\nThought: I now know the final answer.\nFinal Answer: three"
    )


def _swe(tool: str, args: Arguments) -> str:
    return f"DISCUSSION\nI will run it.\n\n```bash\n{args.get('cmd', tool)}\n```\n"


def _markdown(tool: str, args: Arguments) -> str:
    call = json.dumps({"tool": tool, "args": args}, indent=2)
    return f"## Thought\nI look.\n\n**ACTION:**\n```json\n{call}\n```\n**EVIDENCE_USED:** none\nok"


def _single_quotes(tool: str, args: Arguments) -> str:
    return f"THOUGHT: look\n{ ({'tool': tool, 'args': args}) }\nEVIDENCE_USED: []\nSTATUS_UPDATE: going on"


def _with_comments(tool: str, args: Arguments) -> str:
    return f'THOUGHT: x\n{{\n  // the tool\n  "tool": "{tool}", /* now */ "args": {json.dumps(args)},\n}}'


def _half(tool: str, args: Arguments) -> str:
    whole = _turn_as_text(tool, args)
    return whole[: whole.rfind("}") - 3]


def _yaml(tool: str, args: Arguments) -> str:
    given = "".join(f"  {name}: {value}\n" for name, value in args.items())
    return f"thought: |\n  I look.\ntool: {tool}\nargs:\n{given}evidence_used: []\nstatus_update: BLOCKED\n"


def _turn(tool: str, args: Arguments) -> Turn:
    action = Action(final=str(args["answer"])) if tool == "final" else Action(tool=tool, args=args)
    return Turn(thought="I look.", action=action, evidence_used=("ev_0001",), status_update="IN_PROGRESS")


def _turn_as_text(tool: str, args: Arguments) -> str:
    return text.render(_turn(tool, args))


def _turn_as_json(tool: str, args: Arguments) -> str:
    return json_schema.render(_turn(tool, args))


def _turn_and_observation(tool: str, args: Arguments) -> str:
    return f"{_turn_as_text(tool, args)}\nOBSERVATION 1\nev_0001| three years\n{_turn_as_text(tool, args)}"


def _chat(tool: str, args: Arguments) -> str:
    return f"Sure! Here's what I found about {tool}:\n\n1. **Three years** - the file.\n\nAnything else? 😊"


DIALECTS: tuple[Dialect, ...] = (
    *(_hermes, _qwen_thinking, _qwen_coder, _llama, _llama_header, _llama_function, _pythonic, _mistral),
    *(_mistral_new, _deepseek, _deepseek_thinking, _gemma, _gemma_function, _phi, _phi_functools, _granite),
    *(_command_r, _command_a, _harmony, _harmony_final, _glm, _kimi, _invoke, _internlm, _nemotron, _react),
    *(_swe, _markdown, _single_quotes, _with_comments, _half, _yaml, _turn_as_text, _turn_as_json),
    *(_turn_and_observation, _chat),
)

REPLIES: tuple[str, ...] = tuple(dialect(*call) for dialect in DIALECTS for call in CALLS)
"""Every dialect with every call."""

NATIVE_CALLS: tuple[list[dict[str, Any]], ...] = tuple(tools.render(_turn(*call))[1] for call in CALLS)
"""The calls as a server hands them over beside the text."""
