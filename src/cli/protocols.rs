//! `signoff protocols`: the ways a team can work together, one line each, or one in full.

use super::args::ProtocolsArgs;
use super::error::{CliError, Exit};
use super::out::{Align, Form, Out, Table};
use crate::collaboration::{ParamKind, ProtocolInfo, ProtocolTool, describe, names};
use serde::Serialize;

#[derive(Serialize)]
struct Protocol {
    name: &'static str,
    summary: &'static str,
    graph: &'static str,
    rules: &'static str,
    member_tools: Vec<Tool>,
    supervisor_tools: Vec<Tool>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    description: &'static str,
    parameters: Vec<Parameter>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    kind: &'static str,
    required: bool,
    description: &'static str,
}

/// `protocols`
pub fn protocols(args: &ProtocolsArgs, out: &mut Out) -> Result<Exit, CliError> {
    let form = Form::of(args.json);
    if let Some(name) = &args.name {
        let info = describe(name).map_err(|error| CliError::Usage(error.to_string()))?;
        match form {
            Form::Json => out.json(&protocol(&info))?,
            Form::Table => tell(&info, out)?,
        }
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&[("name", Align::Left), ("what it does", Align::Left)]);
    for info in names().filter_map(|name| describe(name).ok()) {
        match form {
            Form::Json => out.json(&protocol(&info))?,
            Form::Table => table.row([info.name, info.summary]),
        }
    }
    if form == Form::Table {
        out.table(&table)?;
    }
    Ok(Exit::Done)
}

fn protocol(info: &ProtocolInfo) -> Protocol {
    Protocol {
        name: info.name,
        summary: info.summary,
        graph: info.graph,
        rules: info.rules,
        member_tools: info.agent_tools.iter().map(tool).collect(),
        supervisor_tools: info.supervisor_tools.iter().map(tool).collect(),
    }
}

fn tool(tool: &ProtocolTool) -> Tool {
    let parameter = |param: &crate::collaboration::Param| Parameter {
        name: param.name,
        kind: match param.kind {
            ParamKind::Text => "text",
            ParamKind::Number => "number",
            ParamKind::TextList => "list of texts",
            ParamKind::Records(_) => "list of objects",
            ParamKind::Object => "object",
        },
        required: param.required,
        description: param.description,
    };
    Tool { name: tool.name, description: tool.description, parameters: tool.params.iter().map(parameter).collect() }
}

fn tell(info: &ProtocolInfo, out: &mut Out) -> Result<(), CliError> {
    out.line(&format!("{}: {}", info.name, info.summary))?;
    out.line(&format!("graph   {}", info.graph))?;
    out.line(&format!("rules   {}", info.rules))?;
    for (whose, tools) in [("members", info.agent_tools), ("the lead", info.supervisor_tools)] {
        for tool in tools {
            let word =
                |param: &crate::collaboration::Param| if param.required { param.name.to_owned() } else { format!("{}?", param.name) };
            let params = tool.params.iter().map(word).collect::<Vec<_>>().join(", ");
            out.line(&format!("tool    {}{{{params}}} for {whose}: {}", tool.name, tool.description))?;
        }
    }
    Ok(())
}
